"""Which function lowers which operation. An operation that is not here is not supported."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.adapters.lowering import (
    activation,
    conversion,
    convolution,
    elementwise,
    padding,
    pooling,
    recurrent,
    shape,
    slicing,
)
from npu_conformance.adapters.lowering.context import Lower
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Operand, Operation

LOWERINGS: dict[int, Lower] = {
    OperationType.ADD: elementwise.add,
    OperationType.SUB: elementwise.sub,
    OperationType.MUL: elementwise.mul,
    OperationType.DIV: elementwise.div,
    OperationType.MAXIMUM: elementwise.maximum,
    OperationType.MINIMUM: elementwise.minimum,
    OperationType.PAD: padding.pad,
    OperationType.PAD_V2: padding.pad_v2,
    OperationType.CONV_2D: convolution.conv_2d,
    OperationType.DEPTHWISE_CONV_2D: convolution.depthwise_conv_2d,
    OperationType.FULLY_CONNECTED: convolution.fully_connected,
    OperationType.AVERAGE_POOL_2D: pooling.average_pool_2d,
    OperationType.MAX_POOL_2D: pooling.max_pool_2d,
    OperationType.RESHAPE: shape.reshape,
    OperationType.SQUEEZE: shape.squeeze,
    OperationType.TRANSPOSE: shape.transpose,
    OperationType.MEAN: shape.mean,
    OperationType.CONCATENATION: slicing.concatenation,
    OperationType.SPLIT: slicing.split,
    OperationType.SLICE: slicing.slice_,
    OperationType.STRIDED_SLICE: slicing.strided_slice,
    OperationType.SOFTMAX: activation.softmax,
    OperationType.LOGISTIC: activation.logistic,
    OperationType.TANH: activation.tanh,
    OperationType.RELU: activation.relu,
    OperationType.RELU1: activation.relu1,
    OperationType.RELU6: activation.relu6,
    OperationType.QUANTIZE: conversion.quantize,
    OperationType.DEQUANTIZE: conversion.dequantize,
    OperationType.CAST: conversion.cast,
    OperationType.LSTM: recurrent.lstm,
    OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM: recurrent.unidirectional_sequence_lstm,
    OperationType.BIDIRECTIONAL_SEQUENCE_LSTM: recurrent.bidirectional_sequence_lstm,
}

PARAMETER_TENSORS: dict[int, tuple[int, ...]] = {
    OperationType.PAD: (1,),
    OperationType.PAD_V2: (1,),
    OperationType.RESHAPE: (1,),
    OperationType.SQUEEZE: (1,),
    OperationType.TRANSPOSE: (1,),
    OperationType.MEAN: (1,),
    OperationType.SLICE: (1, 2),
    OperationType.STRIDED_SLICE: (1, 2, 3),
}
"""Inputs, by position, that are tensors for NNAPI and have to be constant here."""


def parameters(operation: Operation, operands: Sequence[Operand]) -> frozenset[int]:
    """Operands that the lowering of an operation needs constant, though they are tensors for NNAPI.

    Given as a model input, they are built into a graph of their own for each value, when the value is known.
    """
    is_integer_div = (
        operation.type == OperationType.DIV and operands[operation.inputs[0]].type == OperandType.TENSOR_INT32
    )
    positions = (1,) if is_integer_div else PARAMETER_TENSORS.get(operation.type, ())
    return frozenset(operation.inputs[position] for position in positions if position < len(operation.inputs))
