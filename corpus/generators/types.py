"""The operand types that most generators use, under short names."""

from npu_conformance.specs.neuralnetworks.enums import OperandType

FLOAT32 = OperandType.TENSOR_FLOAT32
FLOAT16 = OperandType.TENSOR_FLOAT16
INT32 = OperandType.TENSOR_INT32
BOOL8 = OperandType.TENSOR_BOOL8
QUANT8 = OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
