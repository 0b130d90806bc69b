"""What convolutions and pools share: padding, strides, dilations, layout, and the fused activation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size
from npu_conformance.adapters.lowering.reading import Reading
from npu_conformance.specs.neuralnetworks.enums import OperandType, PaddingScheme

TO_NHWC = (0, 2, 3, 1)
TO_NCHW = (0, 3, 1, 2)


@dataclass(frozen=True)
class Window:
    """The parameters of a windowed operation. Pairs are (height, width); paddings are (before, after) for each.

    paddings: None for an implicit scheme. middle: what stands between strides and activation (depth multiplier, or
    width and height of a pool's filter).
    """

    scheme: int
    paddings: tuple[tuple[int, int], tuple[int, int]] | None
    strides: tuple[int, int]
    middle: tuple[int, ...]
    activation: int
    is_nchw: bool
    dilations: tuple[int, int]


def read(step: Reading, first: int, middle_count: int) -> Window:
    """Read the parameters. first: position of the first padding input; middle_count: see Window.middle."""
    implicit_count = first + middle_count + 4
    is_explicit = step.input_count > implicit_count and step.is_type(implicit_count, OperandType.INT32)
    start = first + (4 if is_explicit else 1)
    end = start + 2 + middle_count
    sizes = [step.scalar(position) for position in range(first, end)]
    dilations = (step.scalar(end + 3, 1), step.scalar(end + 2, 1))
    stride_width, stride_height, *middle = sizes[start - first :]
    if min(stride_width, stride_height, *dilations, *middle, 1) < 1:
        raise LoweringError("a stride, dilation, multiplier or filter size below 1")
    paddings = ((sizes[2], sizes[3]), (sizes[0], sizes[1])) if is_explicit else None
    return Window(
        scheme=PaddingScheme.VALID if is_explicit else sizes[0],
        paddings=paddings,
        strides=(stride_height, stride_width),
        middle=tuple(middle),
        activation=step.activation(end),
        is_nchw=bool(step.scalar(end + 1, 0)),
        dilations=dilations,
    )


def source(step: Step, window: Window) -> int:
    """The input tensor, channels last."""
    return step.transposed(step.tensor(0), TO_NHWC) if window.is_nchw else step.tensor(0)


def deliver(step: Step, window: Window, result: int) -> None:
    """Bind a result with channels last to the output, in the layout asked for."""
    step.bind(step.transposed(result, TO_NCHW) if window.is_nchw else result)


def input_size(step: Reading, window: Window) -> tuple[int, int]:
    """Height and width of the input."""
    dimensions = step.dimensions(0)
    if len(dimensions) != 4:
        raise LoweringError(f"an input of rank {len(dimensions)}")
    return dimensions[2:] if window.is_nchw else dimensions[1:3]


def scheme(step: Step, window: Window, filter_size: Sequence[int]) -> int | None:
    """LiteRT's padding scheme; None where explicit paddings equal neither. filter_size: height and width, undilated."""
    padding = schema().Padding
    if window.paddings is None:
        if window.scheme not in tuple(PaddingScheme):
            raise LoweringError(f"padding scheme {window.scheme} is unknown")
        return int(padding.SAME if window.scheme == PaddingScheme.SAME else padding.VALID)
    if any(side < 0 for pair in window.paddings for side in pair):
        raise LoweringError("a negative padding")
    if not any(side for pair in window.paddings for side in pair):
        return int(padding.VALID)
    same = tuple(
        same_paddings(size, (extent - 1) * dilation + 1, stride)
        for size, extent, dilation, stride in zip(
            input_size(step, window), filter_size, window.dilations, window.strides, strict=True
        )
    )
    return int(padding.SAME) if same == window.paddings else None


def padded(step: Step, window: Window, number: int) -> int:
    """The tensor inside its explicit paddings of zero."""
    assert window.paddings is not None
    batch, *sizes, channels = step.dimensions(0) if not window.is_nchw else [step.dimensions(0)[i] for i in TO_NHWC]
    check_size([batch, *(size + sum(pair) for size, pair in zip(sizes, window.paddings, strict=True)), channels])
    result = step.like(number)
    paddings = step.integers(np.array([(0, 0), *window.paddings, (0, 0)]))
    step.graph.emit("PAD", [number, paddings], result, "Pad")
    return result


def same_paddings(size: int, extent: int, stride: int) -> tuple[int, int]:
    """Padding before and after that the scheme SAME means along one axis. extent: of the filter, dilated."""
    needed = (-(-size // stride) - 1) * stride + extent
    total = max(needed - size, 0)
    return total // 2, total - total // 2
