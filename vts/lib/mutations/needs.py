"""What a family of mutations needs of a model, as far as the header of its vector tells."""

from __future__ import annotations

from npu_conformance.corpus.vectors import HeaderOperand, VectorHeader
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

_PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL.name


def several_operations(header: VectorHeader) -> bool:
    """Operations in an order."""
    return len(header.operations) > 1


def other_graphs(header: VectorHeader) -> bool:
    """References to other graphs."""
    return not {"IF", "WHILE"}.isdisjoint(header.operations)


def rank(header: VectorHeader) -> bool:
    """A scalar, or a version in which a tensor needs a rank."""
    return header.since < Version.V1_2 or any(map(_is_scalar, header.operands.values()))


def channels(header: VectorHeader) -> bool:
    """An operand that is quantised for each channel."""
    return any(operand.type == _PER_CHANNEL for operand in header.operands.values())


def constant(header: VectorHeader) -> bool:
    """A constant that has bytes."""
    return any(map(_is_constant, header.operands.values()))


def constant_tensor(header: VectorHeader) -> bool:
    """A constant of a known type that has bytes and dimensions."""
    return any(_is_constant(operand) and operand.dimensions for operand in header.operands.values())


def _is_scalar(operand: HeaderOperand) -> bool:
    info = OPERAND_TYPES.get(OperandType.__members__.get(operand.type, -1))
    return info is not None and not info.is_tensor and info.type is not OperandType.SUBGRAPH


def _is_constant(operand: HeaderOperand) -> bool:
    return operand.role == "constant" and operand.type in OperandType.__members__ and 0 not in operand.dimensions
