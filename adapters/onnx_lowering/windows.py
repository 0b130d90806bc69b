"""Convolutions and pools, which ONNX has with channels first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_conformance.adapters.lowering import window as windows
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, quantization
from npu_conformance.adapters.lowering.window import Window
from npu_conformance.adapters.onnx_lowering.context import FARTHEST, Step
from npu_conformance.specs.neuralnetworks.enums import OperandType, PaddingScheme

FILTER, BIAS, SHAPE = 1, 2, 3


def conv_2d(step: Step) -> None:
    """CONV_2D."""
    _convolve(step, windows.read(step, first=3, middle_count=0), windows.TO_NCHW, 1)


def grouped_conv_2d(step: Step) -> None:
    """GROUPED_CONV_2D."""
    window = windows.read(step, first=3, middle_count=1)
    _convolve(step, window, windows.TO_NCHW, window.middle[0])


def depthwise_conv_2d(step: Step) -> None:
    """DEPTHWISE_CONV_2D: a group for each channel."""
    window = windows.read(step, first=3, middle_count=1)
    _convolve(step, window, (3, 0, 1, 2), step.dimensions(FILTER)[3] // window.middle[0])


def transpose_conv_2d(step: Step) -> None:
    """TRANSPOSE_CONV_2D: the whole result, of which paddings cut off head and tail, or a negative tail is added."""
    is_implicit = step.is_type(SHAPE, OperandType.TENSOR_INT32)
    window = windows.read(step, first=4 if is_implicit else 3, middle_count=0)
    weights = step.transposed(step.real(FILTER), (3, 0, 1, 2))
    name = step.emit("ConvTranspose", _source(step, window), weights, strides=window.strides)
    kernel, paddings = step.dimensions(FILTER)[1:3], window.paddings or ((0, 0), (0, 0))
    if is_implicit and window.scheme == PaddingScheme.SAME:
        wanted = step.value(SHAPE)[2:] if window.is_nchw else step.value(SHAPE)[1:3]
        paddings = _cut(windows.input_size(step, window), wanted.tolist(), kernel, window.strides)
    name = _cut_off(step, name, paddings)
    bias = step.reshaped(_bias(step), [1, -1, 1, 1])
    _deliver(step, window, step.emit("Add", name, bias))


def average_pool_2d(step: Step) -> None:
    """AVERAGE_POOL_2D."""
    window = windows.read(step, first=1, middle_count=2)
    _deliver(step, window, _averages(step, window, _source(step, window)))


def l2_pool_2d(step: Step) -> None:
    """L2_POOL_2D: the root of the mean of squares."""
    window = windows.read(step, first=1, middle_count=2)
    source = _source(step, window)
    means = _averages(step, window, step.emit("Mul", source, source))
    _deliver(step, window, step.emit("Sqrt", means))


def max_pool_2d(step: Step) -> None:
    """MAX_POOL_2D; padded in front, since the evaluator pads its other sides with strides that are equal."""
    window = windows.read(step, first=1, middle_count=2)
    kernel = window.middle[::-1]
    top, left, bottom, right = _pads(step, window, kernel)
    sides = step.integers([0, 0, top, left, 0, 0, bottom, right])
    source = step.emit("Pad", _source(step, window), sides, step.number(-np.inf))
    _deliver(step, window, step.emit("MaxPool", source, kernel_shape=kernel, strides=window.strides))


def _averages(step: Step, window: Window, source: str) -> str:
    """Means of the windows, in which padding does not count."""
    kernel = window.middle[::-1]
    pads = _pads(step, window, kernel)
    return step.emit("AveragePool", source, kernel_shape=kernel, strides=window.strides, pads=pads, count_include_pad=0)


def _cut_off(step: Step, name: str, paddings: Sequence[Sequence[int]]) -> str:
    """An image, channels first, without its head and tail of each axis; a negative tail is added, of zeros."""
    begins, ends = ([pair[0] for pair in paddings], [-pair[1] if pair[1] > 0 else FARTHEST for pair in paddings])
    part = step.emit("Slice", name, *map(step.integers, (begins, ends, [2, 3])))
    tails = [max(-pair[1], 0) for pair in paddings]
    return step.emit("Pad", part, step.integers([0, 0, 0, 0, 0, 0, *tails])) if any(tails) else part


def _convolve(step: Step, window: Window, order: Sequence[int], groups: int) -> None:
    kernel = step.dimensions(FILTER)[1:3]
    result = step.emit(
        "Conv",
        _source(step, window),
        step.transposed(step.real(FILTER), order),
        _bias(step),
        group=groups,
        strides=window.strides,
        dilations=window.dilations,
        pads=_pads(step, window, kernel),
    )
    _deliver(step, window, result)


def _bias(step: Step) -> str:
    """The bias; under a per-channel filter with the scale of each channel, which NNAPI leaves unsaid."""
    weights = quantization(step.operand(FILTER))
    if weights is None or not step.is_type(FILTER, OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL):
        return step.real(BIAS)
    return step.unscaled(BIAS, np.array(weights.scales, np.float32) * np.float32(step.operand(0).scale))


def _source(step: Step, window: Window) -> str:
    return step.real(0) if window.is_nchw else step.transposed(step.real(0), windows.TO_NCHW)


def _deliver(step: Step, window: Window, name: str) -> None:
    result = step.activated(name, window.activation)
    step.store(result if window.is_nchw else step.transposed(result, windows.TO_NHWC))


def _pads(step: Step, window: Window, kernel: Sequence[int]) -> list[int]:
    """Paddings in ONNX's order: top, left, bottom, right."""
    sizes, paddings = windows.input_size(step, window), window.paddings or ((0, 0), (0, 0))
    if window.paddings is None and window.scheme == PaddingScheme.SAME:
        extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, window.dilations, strict=True)]
        rows, columns = map(windows.same_paddings, sizes, extents, window.strides)
        paddings = (rows, columns)
    if any(side < 0 for pair in paddings for side in pair):
        raise LoweringError("a negative padding")
    check_size([size + sum(pair) for size, pair in zip(sizes, paddings, strict=True)])
    return [pair[side] for side in (0, 1) for pair in paddings]


def _cut(
    sizes: Sequence[int], wanted: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what to cut at head and tail of the whole result for an output of the wanted size under SAME."""
    pairs = []
    for size, target, extent, stride in zip(sizes, wanted, kernel, strides, strict=True):
        head, _ = windows.same_paddings(target, extent, stride)
        pairs.append((head, (size - 1) * stride + extent - head - target))
    return pairs[0], pairs[1]
