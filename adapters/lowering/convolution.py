"""CONV_2D, GROUPED_CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED.

LiteRT's quantised kernels take two of NNAPI's three pairings of input and filter: uint8 with uint8, and int8 with a
filter whose zero point is 0. The others are moved by 128 to one of these before and back after, which changes no
real value: a per-channel filter under a uint8 input to int8, an int8 filter with another zero point to uint8.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering import window as windows
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.graph import Quantization, Tensor
from npu_conformance.adapters.lowering.operands import graph_dtype, quantization
from npu_conformance.specs.neuralnetworks.enums import OperandType

FILTER, BIAS = 1, 2


def conv_2d(step: Step) -> None:
    """CONV_2D."""
    window = windows.read(step, first=3, middle_count=0)
    _convolve(step, window, "CONV_2D", "Conv2D", {})


def grouped_conv_2d(step: Step) -> None:
    """GROUPED_CONV_2D: to LiteRT a convolution whose filter has fewer channels than the input."""
    window = windows.read(step, first=3, middle_count=1)
    _convolve(step, window, "CONV_2D", "Conv2D", {})


def depthwise_conv_2d(step: Step) -> None:
    """DEPTHWISE_CONV_2D."""
    window = windows.read(step, first=3, middle_count=1)
    _convolve(step, window, "DEPTHWISE_CONV_2D", "DepthwiseConv2D", {"depthMultiplier": window.middle[0]})


def fully_connected(step: Step) -> None:
    """FULLY_CONNECTED: LiteRT, too, makes [batch, input size] of an input of higher rank."""
    activation = step.activation(3)
    dtype = computing_dtype(step)
    source = shifted(step, step.tensor(0), dtype)
    weights, bias, result = shifted(step, step.tensor(FILTER), dtype), step.tensor(BIAS), result_as(step, dtype)
    step.graph.emit(
        "FULLY_CONNECTED", [source, weights, bias], result, "FullyConnected", fusedActivationFunction=activation
    )
    step.bind(as_declared(step, result))


def _convolve(step: Step, window: windows.Window, builtin: str, options: str, settings: dict[str, int]) -> None:
    dtype = computing_dtype(step)
    source = shifted(step, windows.source(step, window), dtype)
    weights = shifted(step, step.tensor(FILTER), dtype)
    padding = windows.scheme(step, window, step.dimensions(FILTER)[1:3])
    if padding is None:
        source, padding = windows.padded(step, window, source), schema().Padding.VALID
    result = result_as(step, dtype)
    step.graph.emit(
        builtin,
        [source, weights, bias_of(step)],
        result,
        options,
        padding=padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        dilationHFactor=window.dilations[0],
        dilationWFactor=window.dilations[1],
        fusedActivationFunction=window.activation,
        **settings,
    )
    windows.deliver(step, window, as_declared(step, result))


def computing_dtype(step: Step) -> str:
    """Element type of LiteRT's kernel for these input and filter types."""
    weights = step.operand(FILTER)
    if weights.type == OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return "int8"
    if weights.type == OperandType.TENSOR_QUANT8_ASYMM_SIGNED and weights.zero_point:
        return "uint8"
    return graph_dtype(step.operand(0))


def shifted(step: Step, number: int, dtype: str) -> int:
    """The tensor as `dtype`, its real values unchanged; a constant is moved here, anything else by QUANTIZE."""
    tensor = step.graph.tensors[number]
    if tensor.dtype == dtype:
        return number
    target = _shifted_quantization(tensor.quantization, tensor.dtype, dtype)
    if tensor.data is None:
        return step.requantized(number, target, dtype)
    return step.graph.constant((tensor.data.astype(np.int16) + _offset(tensor.dtype, dtype)).astype(dtype), target)


def result_as(step: Step, dtype: str) -> int:
    """A new tensor for the output, as `dtype`."""
    declared = step.result()
    return step.graph.add(
        Tensor(dtype, (), _shifted_quantization(quantization(declared), graph_dtype(declared), dtype))
    )


def as_declared(step: Step, number: int) -> int:
    """The tensor in the type and quantisation that the output declares."""
    return step.requantized(number, quantization(step.result()), graph_dtype(step.result()))


def bias_of(step: Step) -> int:
    """The bias; under a per-channel filter with the scale of each channel, which NNAPI leaves unsaid."""
    weights, number = quantization(step.operand(FILTER)), step.tensor(BIAS)
    tensor = step.graph.tensors[number]
    if step.is_type(FILTER, OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL) and weights and tensor.data is not None:
        scales = tuple(step.operand(0).scale * scale for scale in weights.scales)
        return step.graph.add(replace(tensor, quantization=Quantization(scales, (0,) * len(scales))))
    return number


def _shifted_quantization(declared: Quantization | None, dtype: str, wanted: str) -> Quantization | None:
    if declared is None:
        return None
    return replace(declared, zero_points=tuple(point + _offset(dtype, wanted) for point in declared.zero_points))


def _offset(dtype: str, wanted: str) -> int:
    return {("uint8", "int8"): -128, ("int8", "uint8"): 128}.get((dtype, wanted), 0)
