"""From a tensor of a .tflite file to an operand of NN HAL, and from its elements to the operand's."""

from __future__ import annotations

import numpy as np

from npu_conformance.corpus.importers.tflite.contents import Tensor
from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.flatbuffer import Array
from npu_conformance.corpus.vectors import ChannelQuant, VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

_TYPES = {
    "FLOAT32": OperandType.TENSOR_FLOAT32,
    "FLOAT16": OperandType.TENSOR_FLOAT16,
    "INT32": OperandType.TENSOR_INT32,
    "BOOL": OperandType.TENSOR_BOOL8,
    "UINT8": OperandType.TENSOR_QUANT8_ASYMM,
    "INT8": OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
    "INT16": OperandType.TENSOR_QUANT16_SYMM,
}
_INT32 = np.iinfo(np.int32)


def operand_of(tensor: Tensor) -> VectorOperand:
    """The operand that a tensor becomes, without its value. Raises Unsupported.

    A tensor of rank 0 has one axis of size 1, since NN HAL means an unknown rank by none. An integer that is not
    quantised stands for itself: it gets the scale 1.
    """
    kind = _TYPES.get(tensor.type)
    if tensor.is_sparse:
        raise Unsupported(f"{tensor} is sparse: NNAPI has dense tensors alone")
    if kind is None:
        raise Unsupported(f"{tensor} is of type {tensor.type}, which NNAPI does not have")
    if 0 in tensor.shape:
        raise Unsupported(f"{tensor} has no elements: to NNAPI a dimension of 0 is an unknown one")
    dimensions = tensor.shape or (1,)
    if not OPERAND_TYPES[kind].is_quantized:
        return VectorOperand(kind, dimensions)
    if len(tensor.scales) > 1:
        return _per_channel(tensor, dimensions)
    scale, zero_point = (tensor.scales or (1.0,))[0], (tensor.zero_points or (0,))[0]
    return VectorOperand(kind, dimensions, *_checked(tensor, kind, scale, zero_point))


def _checked(tensor: Tensor, kind: OperandType, scale: float, zero_point: int) -> tuple[float, int]:
    low, high = OPERAND_TYPES[kind].zero_points or (0, 0)
    if scale <= 0 or not low <= zero_point <= high:
        raise Unsupported(f"{tensor} has scale {scale:g} and zero point {zero_point}, which {kind.name} cannot have")
    return scale, zero_point


def _per_channel(tensor: Tensor, dimensions: tuple[int, ...]) -> VectorOperand:
    if tensor.type != "INT8" or any(tensor.zero_points) or not all(scale > 0 for scale in tensor.scales):
        raise Unsupported(f"{tensor} is quantised per channel, which in NNAPI is for symmetric int8 alone")
    quant = ChannelQuant(tensor.scales, tensor.channel_dim)
    return VectorOperand(OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, dimensions, channel_quant=quant)


def narrowed(tensor: Tensor, value: Array) -> tuple[Tensor, Array]:
    """A constant of int64 as one of int32. Raises Unsupported where an element does not fit."""
    if tensor.type != "INT64":
        return tensor, value
    if value.size and (value.min() < _INT32.min or value.max() > _INT32.max):
        raise Unsupported(f"{tensor} is of type INT64, and has elements that do not fit into INT32")
    return Tensor(tensor.index, tensor.name, "INT32", tensor.shape), value.astype(np.int32)


def elements(operand: VectorOperand, value: Array) -> Array:
    """The elements of a constant, in the operand's element type and shape."""
    return np.ascontiguousarray(value, OPERAND_TYPES[operand.type].dtype).reshape(operand.dimensions)
