"""What the generators of AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D share."""

from dataclasses import dataclass, replace
from typing import Any

import numpy

from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._windows import ACTIVATIONS, PADDINGS, RELU1, Pads, Pair, Window, pads
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejected, rejection
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8": QUANT8, "quant8_signed": SIGNED}
L2 = "L2_POOL_2D"


@dataclass(frozen=True)
class Sizes:
    """Shapes of a pool. size and window: height, width."""

    batches: int
    size: Pair
    channels: int
    window: Pair


SHAPES = {
    "wide": Sizes(1, (5, 7), 2, (2, 4)),
    "tall": Sizes(2, (6, 4), 3, (3, 2)),
    "unit": Sizes(2, (3, 2), 4, (1, 1)),
}


def kinds_of(operation: str) -> list[str]:
    """The types that an operation has: L2_POOL_2D only floats."""
    return [kind for kind in KINDS if kind.startswith("float") or operation != L2]


def operands(
    kind: str, sizes: Sizes, window: Window, data: Any, scale: float = 0.05, zero_point: int = 100
) -> tuple[Operands, Operands]:
    """Inputs and outputs of a pool. data, zero_point: of an unsigned type; a signed one gets them less 128."""
    shift = 128 if kind == "quant8_signed" else 0
    quantization: dict[str, Any] = (
        {} if kind.startswith("float") else {"scale": scale, "zero_point": zero_point - shift}
    )
    in_shape = window.shape(sizes.batches, sizes.size, sizes.channels)
    out_shape = window.shape(sizes.batches, window.output_size(sizes.size, sizes.window), sizes.channels)
    elements = None if data is None else data - shift
    middle = {"filter_width": sizes.window[1], "filter_height": sizes.window[0]}
    inputs = {"input": tensor(KINDS[kind], in_shape, elements, **quantization), **window.arguments(middle)}
    return inputs, {"output": tensor(KINDS[kind], out_shape, **quantization)}


def seeded(kind: str, sizes: Sizes, window: Window, seed: int) -> Any:
    """Quarters around 0, or bytes with both limits among them."""
    shape = window.shape(sizes.batches, sizes.size, sizes.channels)
    if kind.startswith("float"):
        return dyadic(seed, shape, -8.0, 8.0, 0.25)
    data = integers(seed, shape, 0, 255)
    data.flat[1], data.flat[-1] = 255, 0
    return data


def _squarable(sizes: Sizes, window: Window, seed: int) -> Any:
    """Whole numbers, or eighths where results are cut at 1: their squares add up exactly in float16."""
    whole = dyadic(seed, window.shape(sizes.batches, sizes.size, sizes.channels), -8.0, 8.0, 1.0)
    return whole / 8 if window.activation == RELU1 else whole


def vector(operation: str, name: str, kind: str, sizes: Sizes, window: Window, seed: int, **details: Any) -> Vector:
    """A vector that must run, with seeded data."""
    data = _squarable(sizes, window, seed) if operation == L2 else seeded(kind, sizes, window, seed)
    inputs, outputs = operands(kind, sizes, window, data)
    return positive(name, operation, inputs, outputs, since=window.since, **details)


def cover(operation: str) -> Vectors:
    """Pairwise: type, shape, padding, strides, layout, activation; odd geometries."""
    parameters: dict[str, list[Any]] = {
        "kind": kinds_of(operation),
        "shape": list(SHAPES),
        "padding": list(PADDINGS),
        "stride": [(1, 1), (2, 1), (1, 3)],
        "layout": ["none", "nhwc", "nchw"],
        "activation": list(ACTIVATIONS),
    }
    for seed, row in enumerate(pairwise(parameters)):
        sizes, nchw = SHAPES[row["shape"]], {"none": None, "nhwc": False, "nchw": True}[row["layout"]]
        activation = ACTIVATIONS[row["activation"]]
        window = Window(pads(row["padding"], sizes.window), row["stride"], None, nchw, activation)
        stride = "stride{}x{}".format(*row["stride"])
        words = [row["kind"], row["shape"], row["padding"], stride, row["layout"], row["activation"]]
        hazards = ["same-padding-tail"] if row["padding"] == "same" else []
        hazards += ["nchw-activations-only"] if nchw else []
        name = "_".join(word for word in words if word != "none")
        yield vector(operation, name, row["kind"], sizes, window, seed, hazards=hazards)
    yield from _odd_geometries(operation)


def _odd_geometries(operation: str) -> Vectors:
    """The whole input as one window, strides beyond the window, activation limits cut by the type's range."""
    for seed, kind in enumerate(kinds_of(operation)):
        yield vector(operation, f"{kind}_global", kind, Sizes(2, (3, 5), 3, (3, 5)), Window(), seed)
        skipping = Window("same", (4, 6))
        sizes, name = SHAPES["wide"], f"{kind}_same_skipping_stride"
        yield vector(operation, name, kind, sizes, skipping, seed, hazards=["same-padding-tail"])
    for kind in kinds_of(operation)[2:]:
        for zero_point in (0, 255):
            sizes, window = SHAPES["wide"], Window("same", activation=RELU1)
            data = seeded(kind, sizes, window, zero_point) // 2 + zero_point // 2
            inputs, outputs = operands(kind, sizes, window, data, scale=0.012, zero_point=zero_point)
            yield positive(
                f"{kind}_relu1_zero_point_{zero_point}", operation, inputs, outputs, hazards=["activation-in-quanta"]
            )


def even_images(operation: str, about: str) -> Vectors:
    """Channels that are the same everywhere keep their magnitude as long as padding is left out of the divisor."""
    sizes = Sizes(1, (4, 5), 2, (3, 3))
    for kind in kinds_of(operation):
        data = numpy.broadcast_to((6, -3) if kind.startswith("float") else (210, 60), (1, 4, 5, 2))
        for name, window in {"same": Window("same"), "explicit": Window((2, 1, 0, 2), (2, 1))}.items():
            inputs, outputs = operands(kind, sizes, window, data)
            full, hazards = f"{kind}_padding_not_in_divisor_{name}", ["same-padding-tail", "pool-divisor"]
            yield positive(full, operation, inputs, outputs, hazards=hazards, description=about)


def batch_zero(operation: str) -> Vectors:
    """A batch without images, in both layouts."""
    for kind in kinds_of(operation):
        for nchw in (False, True):
            sizes, window = Sizes(0, (2, 2), 3, (1, 2)), Window("valid", nchw=nchw)
            inputs, outputs = operands(kind, sizes, window, None)
            name = f"{kind}_batch_zero_{'nchw' if nchw else 'nhwc'}"
            yield zero_sized(name, operation, inputs["input"], {**inputs, "input": None}, outputs)


def rejections(operation: str) -> Vectors:
    """What every device must reject; the numbers of the clauses are the same for all of them."""
    height, width, channels = 5, 7, 2
    image = tensor(FLOAT32, (height, width, channels), dyadic(1, (height, width, channels)))
    yield _rejection(operation, "input_rank_3", RANK_CLAUSE, "float32", {"input": image})
    late = {"input": tensor(FLOAT32, (), image.data, shape=image.shape), "output": tensor(FLOAT32, ())}
    yield _rejection(operation, "input_rank_3_at_execution", "C1", "float32", late, since="1.2")
    for scalar in ("stride_width", "stride_height"):
        yield _rejection(operation, f"{scalar}_0", "C2", "float32", {scalar: int32(0)})
    yield from _rejected_geometries(operation)
    for name, code in {"minus_1": -1, "4": 4}.items():
        yield _rejection(operation, f"activation_{name}", "C5", "float32", {"activation": int32(code)})
    yield _rejection(operation, "output_dimensions", "C8", "float32", {"output": tensor(FLOAT32, (1, 6, 5, 2))})
    if operation != L2:
        yield from _rejected_quantizations(operation)


def _rejected_quantizations(operation: str) -> Vectors:
    dimensions = _rejected_operands("quant8")[1]["output"].operand.dimensions
    for name, scale, zero_point in (("scale", 0.1, 100), ("zero_point", 0.05, 101)):
        output = tensor(QUANT8, dimensions, scale=scale, zero_point=zero_point)
        yield _rejection(operation, f"quant8_output_{name}", "C9", "quant8", {"output": output})


def _rejected_geometries(operation: str) -> Vectors:
    geometries: dict[str, tuple[str, Pair, Pads]] = {
        "filter_width_0": ("C2", (2, 0), (0, 0, 0, 0)),
        "filter_height_0": ("C2", (0, 4), (0, 0, 0, 0)),
        "pad_left_negative": ("C3", (2, 4), (-1, 0, 0, 0)),
        "pad_right_negative": ("C3", (2, 4), (0, -1, 0, 0)),
        "pad_top_negative": ("C3", (2, 4), (0, 0, -1, 0)),
        "pad_bottom_negative": ("C3", (2, 4), (0, 0, 0, -1)),
    }
    for name, (clause, filter_size, padding) in geometries.items():
        sizes, window = replace(SHAPES["wide"], window=filter_size), Window(padding)
        inputs, outputs = operands("float32", sizes, window, seeded("float32", sizes, window, 1))
        yield rejected(f"refused_{name}", operation, inputs, outputs, clause=f"{operation}.{clause}")


def _rejected_operands(kind: str) -> tuple[Operands, Operands]:
    sizes, window = SHAPES["wide"], Window((1, 1, 1, 0))
    return operands(kind, sizes, window, seeded(kind, sizes, window, 1))


def _rejection(operation: str, name: str, clause: str, kind: str, changes: Operands, since: str = "1.0") -> Vector:
    return rejection(operation, name, clause, *_rejected_operands(kind), since, changes=changes)
