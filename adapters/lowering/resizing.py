"""RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

import math
from dataclasses import replace

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size
from npu_conformance.adapters.lowering.reading import Reading
from npu_conformance.adapters.lowering.window import TO_NCHW, TO_NHWC
from npu_conformance.specs.neuralnetworks.enums import OperandType

WIDTH, HEIGHT, LAYOUT, ALIGN_CORNERS, HALF_PIXEL_CENTERS = 1, 2, 3, 4, 5


def resize_bilinear(step: Step) -> None:
    """RESIZE_BILINEAR."""
    _resize(step, "RESIZE_BILINEAR", "ResizeBilinear")


def resize_nearest_neighbor(step: Step) -> None:
    """RESIZE_NEAREST_NEIGHBOR."""
    _resize(step, "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")


def _resize(step: Step, builtin: str, options: str) -> None:
    is_nchw = bool(step.scalar(LAYOUT, 0))
    dimensions = step.dimensions(0)
    if len(dimensions) != 4:
        raise LoweringError(f"an input of rank {len(dimensions)}")
    batch, height, width, channels = (dimensions[axis] for axis in TO_NHWC) if is_nchw else dimensions
    sizes = [size_of(step, HEIGHT, height), size_of(step, WIDTH, width)]
    check_size([batch, *sizes, channels])
    given = _unsigned(step, step.tensor(0)) if builtin == "RESIZE_BILINEAR" else step.tensor(0)
    source = step.transposed(given, TO_NHWC) if is_nchw else given
    result = step.like(source)
    step.graph.emit(
        builtin,
        [source, step.integers(sizes)],
        result,
        options,
        alignCorners=bool(step.scalar(ALIGN_CORNERS, 0)),
        halfPixelCenters=bool(step.scalar(HALF_PIXEL_CENTERS, 0)),
    )
    arranged = step.transposed(result, TO_NCHW) if is_nchw else result
    kind = step.kind(step.tensor(0))
    step.bind(step.requantized(arranged, kind.quantization, kind.dtype))


def _unsigned(step: Step, number: int) -> int:
    """The tensor as uint8 where it is int8, a shift of 128: LiteRT's kernels for int8 are off by up to three steps."""
    kind = step.kind(number)
    if kind.dtype != "int8" or kind.quantization is None or not step.values.has_unsigned:
        return number
    (zero_point,) = kind.quantization.zero_points
    return step.requantized(number, replace(kind.quantization, zero_points=(zero_point + 128,)), "uint8")


def size_of(step: Reading, position: int, size: int) -> int:
    """Return the size of the output along an axis: LiteRT does not know factors."""
    asked = step.scalar(position)
    if not 0 < asked < math.inf:
        raise LoweringError(f"a size or factor of {asked}")
    return int(asked) if step.is_type(position, OperandType.INT32) else math.floor(size * asked)
