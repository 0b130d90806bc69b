"""Axes of 300 elements, behind the 255th of which an index of eight bits begins again; and windows as large.

Operations that look at each element by itself need none: what counts there is the place among all elements.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy

from npu_conformance.corpus.generators import _pools
from npu_conformance.corpus.generators._other_types import in_other_types
from npu_conformance.corpus.generators._pools import Sizes
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import (
    Operands,
    OperandSpec,
    boolean,
    constant,
    int32,
    int32s,
    scalar,
    tensor,
)
from npu_conformance.corpus.generators.types import FLOAT32, INT32, QUANT8
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

Way = tuple[str, Operands, Operands]
"""What is long, the inputs and the outputs."""

LONG = 300
BEHIND_255 = "a place behind 255 along an axis needs more than eight bits"
_VALID = 2
_NHWC = ("batch", "height", "width", "channel")
_DIFFERENT = (("TOPK_V2", "rows"), ("TOPK_V2", "results"))
"""Whose elements are hardly ever equal, which takes more than eight bits."""
_RESULTS = {"BATCH_MATMUL": (4.0, 128), "L2_NORMALIZATION": (1 / 128, 128), "SOFTMAX": (1 / 256, 0)}
"""Scales and zero points of unsigned outputs, where they are not those of the inputs."""
_HALVES = GeneratorDocument(kind="dyadic", seed=70, low=-8.0, high=8.0, step=0.5)
_POSITIVE = GeneratorDocument(kind="dyadic", seed=71, low=0.5, high=4.0, step=0.5)
_DISTINCT = GeneratorDocument(kind="uniform", seed=72, low=-4.0, high=4.0)
"""Floats of which hardly any two are equal."""


def long_axes(operation: str) -> Vectors:
    """A vector for each axis of an operation that may be long, in each of its types."""
    for what, inputs, outputs in _WAYS[operation](operation):
        excluded = ("float16", "relaxed") if (operation, what) in _DIFFERENT else ()
        name = f"float32_{what}_of_300"
        yield positive(name, operation, inputs, outputs, description=BEHIND_255, excluded=excluded)
        if (operation, what) not in _DIFFERENT:
            quantization = _RESULTS.get(operation, (0.5, 128))
            yield from in_other_types(f"{what}_of_300", operation, inputs, outputs, BEHIND_255, quantization)


def _in(*shape: int, data: GeneratorDocument = _HALVES) -> OperandSpec:
    return tensor(FLOAT32, shape, data)


def _out(*shape: int) -> Operands:
    return {"output": tensor(FLOAT32, shape)}


def _images(height: int = 2, width: int = 2, channels: int = 1) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
    """The shapes in which one axis of an NHWC image is long."""
    for axis, what in enumerate(_NHWC):
        shape = [1, height, width, channels]
        shape[axis] = LONG
        yield what, (shape[0], shape[1], shape[2], shape[3])


def _concatenation(operation: str) -> Iterator[Way]:
    yield "axis", {"input0": _in(2, 200), "input1": _in(2, 100), "axis": int32(1)}, _out(2, LONG)
    yield "other_axis", {"input0": _in(LONG, 2), "input1": _in(LONG, 1), "axis": int32(1)}, _out(LONG, 3)


def _split(operation: str) -> Iterator[Way]:
    for what, given, taken in (("axis", (2, 2 * LONG), (2, LONG)), ("other_axis", (LONG, 4), (LONG, 2))):
        outputs = {f"output{part}": tensor(FLOAT32, taken) for part in range(2)}
        yield what, {"input": _in(*given), "axis": int32(1), "parts": int32(2)}, outputs


def _padding(operation: str) -> Iterator[Way]:
    rest: Mapping[str, Operands] = {
        "PAD_V2": {"pad_value": scalar(OperandType.FLOAT32, -6.5)},
        "MIRROR_PAD": {"mode": int32(0)},
    }
    for what, given, pads in (("rows", (290, 2), ((4, 6), (0, 1))), ("columns", (2, 290), ((1, 0), (4, 6)))):
        paddings = constant(INT32, (2, 2), [size for pair in pads for size in pair])
        shape = [size + sum(pair) for size, pair in zip(given, pads, strict=True)]
        yield what, {"input": _in(*given), "paddings": paddings, **rest.get(operation, {})}, _out(*shape)


def _reverse(operation: str) -> Iterator[Way]:
    yield "rows", {"input": _in(LONG, 2), "axis": int32s(0)}, _out(LONG, 2)
    yield "columns", {"input": _in(2, LONG), "axis": int32s(1)}, _out(2, LONG)


def _slice(operation: str) -> Iterator[Way]:
    yield "rows", {"input": _in(302, 2), "begin": int32s(1, 0), "size": int32s(LONG, 2)}, _out(LONG, 2)
    yield "columns", {"input": _in(2, 302), "begin": int32s(0, 2), "size": int32s(2, LONG)}, _out(2, LONG)


def _strided_slice(operation: str) -> Iterator[Way]:
    masks = {name: int32(0) for name in ("begin_mask", "end_mask", "shrink_axis_mask")}
    every = {"begin": int32s(1, 0), "end": int32s(2 * LONG, 2), "strides": int32s(2, 1)}
    yield "rows", {"input": _in(2 * LONG, 2), **every, **masks}, _out(LONG, 2)
    back = {"begin": int32s(0, -1), "end": int32s(2, 0), "strides": int32s(1, -1)}
    yield "columns", {"input": _in(2, LONG + 1), **back, **masks}, _out(2, LONG)


def _transpose(operation: str) -> Iterator[Way]:
    yield "rows", {"input": _in(LONG, 2), "permutation": int32s(1, 0)}, _out(2, LONG)
    yield "columns", {"input": _in(2, LONG), "permutation": int32s(1, 0)}, _out(LONG, 2)


def _tile(operation: str) -> Iterator[Way]:
    yield "rows", {"input": _in(LONG, 2), "multiples": int32s(1, 2)}, _out(LONG, 4)
    yield "columns", {"input": _in(2, 3), "multiples": int32s(1, 100)}, _out(2, LONG)


def _gather(operation: str) -> Iterator[Way]:
    places = constant(INT32, (LONG,), GeneratorDocument(kind="integers", seed=73, low=0, high=4))
    yield "indices", {"input": _in(5, 2), "axis": int32(0), "indices": places}, _out(LONG, 2)
    yield "other_axis", {"input": _in(LONG, 3), "axis": int32(1), "indices": int32s(2, 0)}, _out(LONG, 2)


def _fill(operation: str) -> Iterator[Way]:
    for what, shape in (("rows", (LONG, 2)), ("columns", (2, LONG))):
        yield what, {"dims": int32s(*shape), "value": scalar(OperandType.FLOAT32, 1.5)}, _out(*shape)


def _pack(operation: str) -> Iterator[Way]:
    for axis, shape in enumerate(((2, LONG, 2), (LONG, 2, 2))):
        inputs = {"axis": int32(axis), **{f"input{part}": _in(LONG, 2) for part in range(2)}}
        yield f"axis_before_{axis}", inputs, _out(*shape)


def _hashtable_lookup(operation: str) -> Iterator[Way]:
    keys, few = int32s(*range(0, 3 * LONG, 3)), (897, 0, 766, 768, 3)
    for what, lookups, known in (("keys", few, keys), ("lookups", [n % 11 for n in range(LONG)], int32s(*range(10)))):
        rows = _in(known.operand.dimensions[0], 2)
        outputs = {**_out(len(lookups), 2), "hits": tensor(QUANT8, (len(lookups),), scale=1.0)}
        yield what, {"lookups": int32s(*lookups), "keys": known, "values": rows}, outputs


def _channel_shuffle(operation: str) -> Iterator[Way]:
    yield "axis", {"input": _in(2, LONG), "num_groups": int32(3), "axis": int32(1)}, _out(2, LONG)
    yield "other_axis", {"input": _in(LONG, 4), "num_groups": int32(2), "axis": int32(1)}, _out(LONG, 4)


def _blocks(operation: str) -> Iterator[Way]:
    """Blocks of two by two between channels, or batches, and the image."""
    for what, (batch, height, width, channels) in _images(1, 1, 4 if operation == "DEPTH_TO_SPACE" else 1):
        small, large = (batch, height, width, channels), (batch, 2 * height, 2 * width, channels)
        match operation:
            case "SPACE_TO_DEPTH":
                deep = (batch, height, width, 4 * channels)
                yield what, {"input": _in(*large), "block_size": int32(2)}, _out(*deep)
            case "DEPTH_TO_SPACE":
                wide = (batch, 2 * height, 2 * width, channels // 4)
                yield what, {"input": _in(*small), "block_size": int32(2)}, _out(*wide)
            case "SPACE_TO_BATCH_ND":
                pads = constant(INT32, (2, 2), [0, 0, 0, 0])
                inputs = {"input": _in(*large), "block_shape": int32s(2, 2), "paddings": pads}
                yield what, inputs, _out(4 * batch, height, width, channels)
            case _:
                many = (4 * batch, height, width, channels)
                yield what, {"input": _in(*many), "block_shape": int32s(2, 2)}, _out(*large)


def _pool(operation: str) -> Iterator[Way]:
    data = _POSITIVE if operation == "L2_POOL_2D" else _HALVES
    for what, (batch, height, width, channels) in _images(3):
        inputs = {"input": _in(batch, height, width, channels, data=data), **_window(1, 3)}
        yield what, inputs, _out(batch, height - 2, width, channels)


def _window(filter_width: int, filter_height: int) -> Operands:
    return {**_strides(), "filter_width": int32(filter_width), "filter_height": int32(filter_height), **_plain()}


def _strides() -> Operands:
    return {"padding_scheme": int32(_VALID), "stride_width": int32(1), "stride_height": int32(1)}


def _plain() -> Operands:
    return {"activation": int32(0)}


def large_windows(operation: str) -> Vectors:
    """Windows of more elements than eight bits can count, and than sixteen can."""
    about = "the number of elements in the window needs more than {} bits"
    for name in ("float32", *(("quant8", "quant8_signed") if operation != "L2_POOL_2D" else ())):
        shift = 128 if name == "quant8_signed" else 0
        inputs, outputs = _pools.operands(name, Sizes(1, (16, 17), 2, (16, 17)), Window(), None)
        middle = GeneratorDocument(kind="integers", seed=74, low=110 - shift, high=130 - shift)
        source = dataclasses.replace(inputs["input"], data=_POSITIVE if name == "float32" else middle)
        inputs = {**inputs, "input": source}
        yield positive(f"{name}_window_of_272", operation, inputs, outputs, description=about.format("eight"))
    inputs = {"input": _in(1, 258, 257, 1, data=_POSITIVE), **_window(257, 258)}
    yield positive(
        "float32_window_of_66306",
        operation,
        inputs,
        _out(1, 1, 1, 1),
        description=about.format("sixteen"),
        excluded=("float16", "relaxed"),
    )


def _convolution(operation: str) -> Iterator[Way]:
    """A filter of two rows and one column on each long axis but the channels, which have vectors of their own."""
    more: Mapping[str, Operands] = {
        "DEPTHWISE_CONV_2D": {"depth_multiplier": int32(1)},
        "GROUPED_CONV_2D": {"groups": int32(1)},
    }
    layout: Operands = {"nchw_layout": boolean(False)} if operation == "GROUPED_CONV_2D" else {}
    for what, shape in _images(3, 3):
        if what != "channel":
            weights = {"filter": constant(FLOAT32, (1, 2, 1, 1), [0.5, -1.0]), "bias": constant(FLOAT32, (1,), [0.25])}
            inputs = {"input": _in(*shape), **weights, **_strides(), **more.get(operation, {}), **_plain(), **layout}
            yield what, inputs, _out(shape[0], shape[1] - 1, shape[2], 1)


def _resize(operation: str) -> Iterator[Way]:
    layout: Operands = {"nchw_layout": boolean(False)} if operation == "RESIZE_NEAREST_NEIGHBOR" else {}
    for what, (batch, height, width, channels) in _images():
        sizes = {"width": int32(2 * width), "height": int32(2 * height)}
        yield (
            what,
            {"input": _in(batch, height, width, channels), **sizes, **layout},
            _out(batch, 2 * height, 2 * width, channels),
        )


def _reals(**values: float) -> Operands:
    return {name: scalar(OperandType.FLOAT32, value) for name, value in values.items()}


def _local_response(operation: str) -> Iterator[Way]:
    factors = _reals(bias=1.0, alpha=0.5, beta=0.5)
    for what, shape in _images(1, 1, 3):
        yield what, {"input": _in(*shape), "radius": int32(1), **factors}, _out(*shape)


def _instance(operation: str) -> Iterator[Way]:
    factors = _reals(gamma=1.5, beta=0.5, epsilon=0.125)
    for what, shape in _images(2, 1):
        yield what, {"input": _in(*shape), **factors, "nchw_layout": boolean(False)}, _out(*shape)


def _log_softmax(operation: str) -> Iterator[Way]:
    for what, shape in (("axis", (2, LONG)), ("other_axis", (LONG, 3))):
        yield what, {"input": _in(*shape), **_reals(beta=0.25), "axis": int32(1)}, _out(*shape)


def _reduction(operation: str) -> Iterator[Way]:
    keep = scalar(OperandType.INT32 if operation == "MEAN" else OperandType.BOOL, 0)
    rest = {"axes": int32s(1), "keep_dims": keep}
    yield "other_axis", {"input": _in(LONG, 2), **rest}, _out(LONG)
    if operation != "REDUCE_PROD":
        # What counts lies behind the 255th place: the largest of the first row, the smallest of the second.
        rising = 0.5 * (numpy.arange(LONG) // 9) - 8
        yield "axis", {"input": tensor(FLOAT32, (2, LONG), [rising, 0.0 - rising]), **rest}, _out(2)


def _softmax(operation: str) -> Iterator[Way]:
    yield "other_axis", {"input": _in(LONG, 3), **_reals(beta=0.25)}, _out(LONG, 3)


def _l2_normalization(operation: str) -> Iterator[Way]:
    for what, shape in (("axis", (2, LONG)), ("other_axis", (LONG, 3))):
        yield what, {"input": _in(*shape), "axis": int32(1)}, _out(*shape)


def _fully_connected(operation: str) -> Iterator[Way]:
    weights = {
        "weights": constant(FLOAT32, (2, 2), [0.5, -1.0, 1.5, 0.5]),
        "bias": constant(FLOAT32, (2,), [0.25, -1.0]),
    }
    yield "rows", {"input": _in(LONG, 2), **weights, **_plain()}, _out(LONG, 2)


def _far_peaks(sign: float) -> OperandSpec:
    """Two rows whose greatest elements (or smallest ones) lie behind the 255th place, and no two of these are equal."""
    rows = dyadic(75, (2, LONG), -4.0, 4.0, 0.5)
    rows[0, 297], rows[0, 258], rows[1, 260], rows[1, 299] = 8.0, 6.0, 7.0, 5.0
    return tensor(FLOAT32, (2, LONG), sign * rows + 0.0)


def _argument(operation: str) -> Iterator[Way]:
    found = {"output": tensor(INT32, (2,))}
    yield "axis", {"input": _far_peaks(1.0 if operation == "ARGMAX" else -1.0), "axis": int32(1)}, found
    turning = [element / 2 for row in range(LONG) for element in (row % 3, (row + 1) % 3, (row + 2) % 3)]
    rows = {"input": tensor(FLOAT32, (LONG, 3), turning), "axis": int32(1)}
    yield "other_axis", rows, {"output": tensor(INT32, (LONG,))}


def _topk_v2(operation: str) -> Iterator[Way]:
    places = {"values": tensor(FLOAT32, (2, 2)), "indices": tensor(INT32, (2, 2))}
    yield "axis", {"input": _far_peaks(1.0), "k": int32(2)}, places
    for what, shape, k in (("rows", (LONG, 3), 2), ("results", (2, 310), LONG)):
        outputs = {"values": tensor(FLOAT32, (shape[0], k)), "indices": tensor(INT32, (shape[0], k))}
        yield what, {"input": _in(*shape, data=_DISTINCT), "k": int32(k)}, outputs


def _batch_matmul(operation: str) -> Iterator[Way]:
    turned = {name: boolean(False) for name in ("adj_x", "adj_y")}
    shapes: tuple[tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
        ("rows", (LONG, 2), (2, 2), (LONG, 2)),
        ("columns", (2, 2), (2, LONG), (2, LONG)),
        ("batch", (LONG, 1, 2), (LONG, 2, 1), (LONG, 1, 1)),
        ("sum", (2, LONG), (LONG, 2), (2, 2)),
    )
    for what, one, other, result in shapes:
        yield what, {"a": _in(*one), "b": _in(*other), **turned}, _out(*result)


_WAYS: Mapping[str, Callable[[str], Iterator[Way]]] = {
    "ARGMAX": _argument,
    "ARGMIN": _argument,
    "AVERAGE_POOL_2D": _pool,
    "BATCH_MATMUL": _batch_matmul,
    "BATCH_TO_SPACE_ND": _blocks,
    "CHANNEL_SHUFFLE": _channel_shuffle,
    "CONCATENATION": _concatenation,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _convolution,
    "DEPTH_TO_SPACE": _blocks,
    "FILL": _fill,
    "FULLY_CONNECTED": _fully_connected,
    "GATHER": _gather,
    "GROUPED_CONV_2D": _convolution,
    "HASHTABLE_LOOKUP": _hashtable_lookup,
    "INSTANCE_NORMALIZATION": _instance,
    "L2_NORMALIZATION": _l2_normalization,
    "L2_POOL_2D": _pool,
    "LOCAL_RESPONSE_NORMALIZATION": _local_response,
    "LOG_SOFTMAX": _log_softmax,
    "MAX_POOL_2D": _pool,
    "MEAN": _reduction,
    "MIRROR_PAD": _padding,
    "PACK": _pack,
    "PAD": _padding,
    "PAD_V2": _padding,
    "REDUCE_MAX": _reduction,
    "REDUCE_MIN": _reduction,
    "REDUCE_PROD": _reduction,
    "RESIZE_BILINEAR": _resize,
    "RESIZE_NEAREST_NEIGHBOR": _resize,
    "REVERSE": _reverse,
    "SLICE": _slice,
    "SOFTMAX": _softmax,
    "SPACE_TO_BATCH_ND": _blocks,
    "SPACE_TO_DEPTH": _blocks,
    "SPLIT": _split,
    "STRIDED_SLICE": _strided_slice,
    "TILE": _tile,
    "TOPK_V2": _topk_v2,
    "TRANSPOSE": _transpose,
}
