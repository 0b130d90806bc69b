"""AVERAGE_POOL_2D, MAX_POOL_2D."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering import window as windows
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, graph_dtype


def average_pool_2d(step: Step) -> None:
    """AVERAGE_POOL_2D. Paddings that are no scheme can not be put in front: padding does not count in the divisor."""
    window = windows.read(step, first=1, middle_count=2)
    padding = windows.scheme(step, window, _filter_size(window))
    if padding is None:
        raise LoweringError("explicit paddings of an average that equal neither SAME nor VALID")
    _pool(step, window, "AVERAGE_POOL_2D", windows.source(step, window), padding)


def max_pool_2d(step: Step) -> None:
    """MAX_POOL_2D. Paddings that are no scheme are put in front with the lowest value, which never is the maximum."""
    window = windows.read(step, first=1, middle_count=2)
    padding = windows.scheme(step, window, _filter_size(window))
    source = windows.source(step, window)
    if padding is None:
        source, padding = windows.padded(step, window, source, _lowest(step)), schema().Padding.VALID
    _pool(step, window, "MAX_POOL_2D", source, padding)


def _filter_size(window: windows.Window) -> tuple[int, int]:
    width, height = window.middle
    return height, width


def _lowest(step: Step) -> int | float:
    dtype = graph_dtype(step.operand(0))
    return float(np.finfo(dtype).min) if dtype == "float32" else int(np.iinfo(dtype).min)


def _pool(step: Step, window: windows.Window, builtin: str, source: int, padding: int) -> None:
    filter_height, filter_width = _filter_size(window)
    result = step.like(source)
    step.graph.emit(
        builtin,
        [source],
        result,
        "Pool2D",
        padding=padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        filterHeight=filter_height,
        filterWidth=filter_width,
        fusedActivationFunction=window.activation,
    )
    windows.deliver(step, window, result)
