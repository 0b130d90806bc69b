"""Which function lowers which operation. An operation that is not here is not supported."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.adapters.lowering import (
    activation,
    arranging,
    blocks,
    comparison,
    conversion,
    convolution,
    elementwise,
    lookups,
    normalization,
    padding,
    pooling,
    reduction,
    shape,
    slicing,
    unary,
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
    OperationType.RANK: shape.rank,
    OperationType.FILL: shape.fill,
    OperationType.MEAN: reduction.reduction("MEAN"),
    OperationType.REDUCE_SUM: reduction.reduction("SUM"),
    OperationType.REDUCE_PROD: reduction.reduction("REDUCE_PROD"),
    OperationType.REDUCE_MAX: reduction.reduction("REDUCE_MAX"),
    OperationType.REDUCE_MIN: reduction.reduction("REDUCE_MIN"),
    OperationType.REDUCE_ALL: reduction.reduction("REDUCE_ALL"),
    OperationType.REDUCE_ANY: reduction.reduction("REDUCE_ANY"),
    OperationType.ARGMAX: reduction.argmax,
    OperationType.ARGMIN: reduction.argmin,
    OperationType.TOPK_V2: reduction.topk_v2,
    OperationType.CONCATENATION: slicing.concatenation,
    OperationType.SPLIT: slicing.split,
    OperationType.SLICE: slicing.slice_,
    OperationType.STRIDED_SLICE: slicing.strided_slice,
    OperationType.SOFTMAX: activation.softmax,
    OperationType.LOG_SOFTMAX: normalization.log_softmax,
    OperationType.L2_NORMALIZATION: normalization.l2_normalization,
    OperationType.LOCAL_RESPONSE_NORMALIZATION: normalization.local_response_normalization,
    OperationType.INSTANCE_NORMALIZATION: normalization.instance_normalization,
    OperationType.LOGISTIC: activation.logistic,
    OperationType.TANH: activation.tanh,
    OperationType.RELU: activation.relu,
    OperationType.RELU1: activation.relu1,
    OperationType.RELU6: activation.relu6,
    OperationType.QUANTIZE: conversion.quantize,
    OperationType.DEQUANTIZE: conversion.dequantize,
    OperationType.CAST: conversion.cast,
    OperationType.SELECT: elementwise.select,
    OperationType.PRELU: elementwise.prelu,
    OperationType.POW: elementwise.pow_,
    OperationType.ELU: activation.elu,
    OperationType.HARD_SWISH: activation.hard_swish,
    OperationType.ABS: unary.abs_,
    OperationType.NEG: unary.neg,
    OperationType.EXP: unary.exp,
    OperationType.LOG: unary.log,
    OperationType.SIN: unary.sin,
    OperationType.SQRT: unary.sqrt,
    OperationType.RSQRT: unary.rsqrt,
    OperationType.FLOOR: unary.floor,
    OperationType.EQUAL: comparison.equal,
    OperationType.NOT_EQUAL: comparison.not_equal,
    OperationType.GREATER: comparison.greater,
    OperationType.GREATER_EQUAL: comparison.greater_equal,
    OperationType.LESS: comparison.less,
    OperationType.LESS_EQUAL: comparison.less_equal,
    OperationType.LOGICAL_AND: comparison.logical_and,
    OperationType.LOGICAL_OR: comparison.logical_or,
    OperationType.LOGICAL_NOT: comparison.logical_not,
    OperationType.DEPTH_TO_SPACE: blocks.depth_to_space,
    OperationType.SPACE_TO_DEPTH: blocks.space_to_depth,
    OperationType.BATCH_TO_SPACE_ND: blocks.batch_to_space_nd,
    OperationType.SPACE_TO_BATCH_ND: blocks.space_to_batch_nd,
    OperationType.EXPAND_DIMS: arranging.expand_dims,
    OperationType.TILE: arranging.tile,
    OperationType.GATHER: arranging.gather,
    OperationType.REVERSE: arranging.reverse,
    OperationType.PACK: arranging.pack,
    OperationType.MIRROR_PAD: arranging.mirror_pad,
    OperationType.EMBEDDING_LOOKUP: lookups.embedding_lookup,
    OperationType.HASHTABLE_LOOKUP: lookups.hashtable_lookup,
    OperationType.CHANNEL_SHUFFLE: lookups.channel_shuffle,
}

PARAMETER_TENSORS: dict[int, tuple[int, ...]] = {
    OperationType.PAD: (1,),
    OperationType.PAD_V2: (1,),
    OperationType.RESHAPE: (1,),
    OperationType.SQUEEZE: (1,),
    OperationType.TRANSPOSE: (1,),
    OperationType.FILL: (0,),
    OperationType.MEAN: (1,),
    OperationType.REDUCE_SUM: (1,),
    OperationType.REDUCE_PROD: (1,),
    OperationType.REDUCE_MAX: (1,),
    OperationType.REDUCE_MIN: (1,),
    OperationType.REDUCE_ALL: (1,),
    OperationType.REDUCE_ANY: (1,),
    OperationType.SLICE: (1, 2),
    OperationType.STRIDED_SLICE: (1, 2, 3),
    OperationType.BATCH_TO_SPACE_ND: (1,),
    OperationType.SPACE_TO_BATCH_ND: (1, 2),
    OperationType.TILE: (1,),
    OperationType.REVERSE: (1,),
    OperationType.MIRROR_PAD: (1,),
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
