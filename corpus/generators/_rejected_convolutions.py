"""Convolutions that every device must reject. They have the same rules under different numbers."""

from collections.abc import Mapping
from dataclasses import replace

import numpy

from npu_conformance.corpus.generators._convolutions import Sizes, Values, operands
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, rejected, rejection
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, PER_CHANNEL
from npu_conformance.corpus.vectors import Vector

_EXPLICIT = Window((1, 1, 1, 0), nchw=False, dilation=(1, 1))
_FLOATS, _BYTES = Values("float32", seed=1), Values("quant8", seed=1)


def rejected_call(
    name: str, clause: str, sizes: Sizes, values: Values, changes: Operands, window: Window = _EXPLICIT
) -> Vector:
    """A vector with some operands changed (by name) so that it breaks one clause: C1 of the operation, or MODEL.P3R."""
    sound = operands(sizes, window, values)
    return rejection(sizes.operation, name, clause, *sound, "1.2", changes=changes)


def rejections(sizes: Sizes, clauses: Mapping[str, str]) -> Vectors:
    """clauses: for each of ranks, bias_length, steps and so on the number of the clause that the vectors break."""
    yield from _shapes(sizes, clauses)
    yield from _scalars(sizes, clauses)
    yield from _quantizations(sizes, clauses)
    yield from _signatures(sizes)


def without_layout(sizes: Sizes) -> Vector:
    """The layout left off the end, where it has to be."""
    inputs, outputs = operands(sizes, Window("same"), Values("float32"))
    del inputs["nchw_layout"]
    hazards, clause = ["groups-without-options"], "MODEL.P3"
    name = "refused_without_layout"
    return rejected(name, sizes.operation, inputs, outputs, clause=clause, since="1.2", hazards=hazards)


def other_input_channels(sizes: Sizes) -> Vector:
    """A filter of one input channel more than the input has."""
    weights = (sizes.out_channels, *sizes.window, sizes.in_channels + 1)
    filter_ = constant(FLOAT32, weights, dyadic(1, weights))
    return rejected_call("filter_input_channels", "C2", sizes, Values("float32"), {"filter": filter_})


def _shapes(sizes: Sizes, clauses: Mapping[str, str]) -> Vectors:
    height, width = sizes.size
    image = (height, width, sizes.in_channels)
    yield rejected_call(
        "input_rank_3", RANK_CLAUSE, sizes, _FLOATS, {"input": tensor(FLOAT32, image, dyadic(1, image))}
    )
    late = {"input": tensor(FLOAT32, (), dyadic(1, image), shape=image), "output": tensor(FLOAT32, ())}
    yield rejected_call("input_rank_3_at_execution", clauses["ranks"], sizes, _FLOATS, late)
    flat = (*sizes.filter[:2], sizes.filter[2] * sizes.filter[3])
    filter_ = constant(FLOAT32, flat, dyadic(2, flat))
    yield rejected_call("filter_rank_3", RANK_CLAUSE, sizes, _FLOATS, {"filter": filter_})
    for name, length in {"long": sizes.out_channels + 1, "short": sizes.out_channels - 1}.items():
        bias = constant(FLOAT32, (length,), dyadic(3, (length,)))
        yield rejected_call(f"bias_too_{name}", clauses["bias_length"], sizes, _FLOATS, {"bias": bias})
    _, outputs = operands(sizes, _EXPLICIT, _FLOATS)
    batches, rows, columns, channels = outputs["output"].operand.dimensions
    wrong = {"height": (batches, rows + 1, columns, channels), "nchw": (batches, channels, rows, columns)}
    for name, shape in wrong.items():
        changed = {"output": tensor(FLOAT32, shape)}
        yield rejected_call(f"output_{name}", clauses["outputs"], sizes, _FLOATS, changed)


def _scalars(sizes: Sizes, clauses: Mapping[str, str]) -> Vectors:
    for scalar, value in (("stride_width", 0), ("stride_height", 0), ("stride_width", -1)):
        name = f"{scalar}_{value}".replace("-", "minus_")
        yield rejected_call(name, clauses["steps"], sizes, _FLOATS, {scalar: int32(value)})
    dilations = {"dilation_width": (1, 0), "dilation_height": (0, 1)} if sizes.has_dilation else {}
    for scalar, dilation in dilations.items():
        window = Window("valid", nchw=False, dilation=dilation)
        yield rejected_call(f"{scalar}_0", clauses["steps"], sizes, _FLOATS, {}, window)
    for position, side in enumerate(("left", "right", "top", "bottom")):
        if sizes.transposed and position % 2:
            continue
        left, right, top, bottom = (-1 if position == place else 0 for place in range(4))
        window = replace(_EXPLICIT, padding=(left, right, top, bottom))
        yield rejected_call(f"pad_{side}_negative", clauses["paddings"], sizes, _FLOATS, {}, window)
    for name, code in {"minus_1": -1, "4": 4}.items():
        yield rejected_call(f"activation_{name}", clauses["activation"], sizes, _FLOATS, {"activation": int32(code)})


def _quantizations(sizes: Sizes, clauses: Mapping[str, str]) -> Vectors:
    product = float(numpy.float32(_BYTES.scales[0]) * numpy.float32(_BYTES.scales[1]))
    elements = integers(4, (sizes.out_channels,), -9, 9)
    for name, scale in {
        "double": 2 * product,
        "one_thousandth_off": 1.001 * product,
        "two_millionths_off": (1 + 2e-6) * product,
    }.items():
        bias = constant(INT32, (sizes.out_channels,), elements, scale=scale)
        yield rejected_call(f"quant8_bias_scale_{name}", clauses["bias_scale"], sizes, _BYTES, {"bias": bias})
    scales = [0.01 * (1 + row) for row in range(sizes.filter[1])]
    weights = integers(5, sizes.filter, -127, 127)
    filter_ = constant(PER_CHANNEL, sizes.filter, weights, channel_quant=(scales, 1))
    values = replace(_BYTES, kind="per_channel")
    yield rejected_call("per_channel_other_dimension", clauses["channel_dimension"], sizes, values, {"filter": filter_})


def _signatures(sizes: Sizes) -> Vectors:
    """One dilation without the other, and operands whose types do not go together."""
    windows = {"implicit": Window("same", nchw=False, dilation=(1, 1)), "explicit": _EXPLICIT}
    for name, window in windows.items() if sizes.has_dilation else ():
        inputs, outputs = operands(sizes, window, _FLOATS)
        del inputs["dilation_height"]
        yield _unmatched(f"one_dilation_{name}", sizes, inputs, outputs)
    weights = constant(FLOAT16, sizes.filter, dyadic(1, sizes.filter, -1.0, 1.0, 0.25))
    inputs, outputs = operands(sizes, _EXPLICIT, _FLOATS)
    yield _unmatched("filter_of_other_type", sizes, {**inputs, "filter": weights}, outputs)
    output = tensor(FLOAT16, outputs["output"].operand.dimensions)
    yield _unmatched("output_of_other_type", sizes, inputs, {"output": output})


def _unmatched(name: str, sizes: Sizes, inputs: Operands, outputs: Operands) -> Vector:
    return rejected(
        f"refused_{name}", sizes.operation, inputs, outputs, clause="MODEL.P3", since="1.2", hazards=["variant-by-type"]
    )
