"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and the pools: what moves a window over an image."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.operators.biases import bias
from npu_conformance.corpus.importers.tflite.step import Step

_SCHEMES = {0: 1, 1: 2}
"""NNAPI's padding schemes SAME and VALID, by LiteRT's codes."""


def conv_2d(step: Step) -> None:
    """CONV_2D; where the filter has fewer channels than the input, GROUPED_CONV_2D."""
    image, filters = step.operand(0).dimensions, step.operand(1).dimensions
    if len(image) == len(filters) == 4 and filters[3] < image[3]:
        _grouped(step, image[3], filters[3])
        return
    step.activated("CONV_2D", [*_operands(step), *_window(step)], *_dilation(step))


def _grouped(step: Step, channels: int, filter_channels: int) -> None:
    if channels % filter_channels or _dilation(step):
        raise Unsupported("NNAPI's GROUPED_CONV_2D has no dilation, and groups of one size")
    groups = step.int32(channels // filter_channels)
    step.activated("GROUPED_CONV_2D", [*_operands(step), *_window(step), groups], step.boolean(False))


def depthwise_conv_2d(step: Step) -> None:
    """DEPTHWISE_CONV_2D; the multiplier follows from the shapes, as in LiteRT's kernels of today."""
    channels = step.operand(0).dimensions[-1]
    multiplier = step.int32(step.operand(1).dimensions[-1] // channels)
    step.activated("DEPTHWISE_CONV_2D", [*_operands(step), *_window(step), multiplier], *_dilation(step))


def transpose_conv(step: Step) -> None:
    """TRANSPOSE_CONV, whose inputs are the shape of the output, the filter, the image and perhaps a bias."""
    shape = step.vector(step.integers(0))
    arguments = [step.name(2), step.name(1), bias(step, 3, 2, 1, channel_axis=0), shape, *_window(step)]
    step.activated("TRANSPOSE_CONV_2D", arguments, step.boolean(False))


def average_pool_2d(step: Step) -> None:
    """AVERAGE_POOL_2D."""
    _pool(step, "AVERAGE_POOL_2D")


def max_pool_2d(step: Step) -> None:
    """MAX_POOL_2D."""
    _pool(step, "MAX_POOL_2D")


def l2_pool_2d(step: Step) -> None:
    """L2_POOL_2D."""
    _pool(step, "L2_POOL_2D")


def _pool(step: Step, operation: str) -> None:
    sizes = [step.int32(step.operator.option(name)) for name in ("FilterWidth", "FilterHeight")]
    step.activated(operation, [step.name(0), *_window(step), *sizes])


def _operands(step: Step) -> list[str]:
    is_depthwise = step.operator.name == "DEPTHWISE_CONV_2D"
    return [step.name(0), step.name(1), bias(step, 2, 0, 1, channel_axis=3 if is_depthwise else 0)]


def _window(step: Step) -> list[str]:
    """Padding scheme and strides."""
    scheme = _SCHEMES.get(step.operator.option("Padding"))
    if scheme is None:
        raise Unsupported(f"there is no padding {step.operator.option('Padding')}")
    return [step.int32(scheme), *(step.int32(step.operator.option(name)) for name in ("StrideW", "StrideH"))]


def _dilation(step: Step) -> list[str]:
    """Layout and dilation, which HAL 1.2 brought, where there is any."""
    factors = [step.operator.option(name, 1) for name in ("DilationWFactor", "DilationHFactor")]
    return [step.boolean(False), *map(step.int32, factors)] if factors != [1, 1] else []
