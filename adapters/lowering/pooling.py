"""AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D.

.tflite pads by SAME or VALID only. Other explicit paddings are made up for without any: a window that reaches into
the padding is a smaller window at the border, since padding counts neither for a maximum nor in an average's divisor.
So the windows of each axis are cut into spans of equal extent, and each pair of spans is a pool of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering import window as windows
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError

HEIGHT, WIDTH = 1, 2
MOST_POSITIONS = 1024
"""The most positions of the window along an axis with explicit paddings: each one at the border is an operator."""


@dataclass(frozen=True)
class Span:
    """Neighbouring windows of one axis that cover equally many elements of the input, all of them in [begin, end)."""

    begin: int
    end: int
    extent: int


def average_pool_2d(step: Step) -> None:
    """AVERAGE_POOL_2D."""
    _pool(step, "AVERAGE_POOL_2D")


def max_pool_2d(step: Step) -> None:
    """MAX_POOL_2D."""
    _pool(step, "MAX_POOL_2D")


def l2_pool_2d(step: Step) -> None:
    """L2_POOL_2D."""
    _pool(step, "L2_POOL_2D")


def spans(size: int, extent: int, stride: int, paddings: tuple[int, int]) -> list[Span]:
    """The windows of an axis without its paddings: whole ones together, each one at the border by itself."""
    before, after = paddings
    starts = range(-before, size + after - extent + 1, stride)
    if not 0 < len(starts) <= MOST_POSITIONS:
        raise LoweringError(f"a window with {len(starts)} positions along an axis with explicit paddings")
    if starts[0] <= -extent or starts[-1] >= size:
        raise LoweringError("a window that covers padding only")
    found: list[Span] = []
    for start in starts:
        begin, end = max(start, 0), min(start + extent, size)
        if found and found[-1].extent == end - begin == extent:
            found[-1] = replace(found[-1], end=end)
        else:
            found.append(Span(begin, end, end - begin))
    return found


def _pool(step: Step, builtin: str) -> None:
    window = windows.read(step, first=1, middle_count=2)
    width, height = window.middle
    padding = windows.scheme(step, window, (height, width))
    source = windows.source(step, window)
    if padding is None:
        result = _pool_spans(step, window, builtin, source)
    else:
        result = _emit(step, window, builtin, source, (height, width), padding)
    windows.deliver(step, window, result)


def _pool_spans(step: Step, window: windows.Window, builtin: str, source: int) -> int:
    assert window.paddings is not None
    filter_size = reversed(window.middle)
    rows, columns = (
        spans(*axis)
        for axis in zip(windows.input_size(step, window), filter_size, window.strides, window.paddings, strict=True)
    )
    return _joined(
        step,
        [
            _joined(step, [_pool_pair(step, window, builtin, source, (row, column)) for column in columns], WIDTH)
            for row in rows
        ],
        HEIGHT,
    )


def _pool_pair(step: Step, window: windows.Window, builtin: str, source: int, pair: tuple[Span, Span]) -> int:
    """The results of the windows in a span of rows and one of columns."""
    row, column = pair
    part = step.like(source)
    begin = step.integers([0, row.begin, column.begin, 0])
    size = step.integers([-1, row.end - row.begin, column.end - column.begin, -1])
    step.graph.emit("SLICE", [source, begin, size], part, "Slice")
    return _emit(step, window, builtin, part, (row.extent, column.extent), schema().Padding.VALID)


def _joined(step: Step, parts: Sequence[int], axis: int) -> int:
    if len(parts) == 1:
        return parts[0]
    whole = step.like(parts[0])
    step.graph.emit("CONCATENATION", parts, whole, "Concatenation", axis=axis, fusedActivationFunction=0)
    return whole


def _emit(
    step: Step, window: windows.Window, builtin: str, source: int, filter_size: tuple[int, int], padding: int
) -> int:
    result = step.like(source)
    step.graph.emit(
        builtin,
        [source],
        result,
        "Pool2D",
        padding=padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        filterHeight=filter_size[0],
        filterWidth=filter_size[1],
        fusedActivationFunction=window.activation,
    )
    return result
