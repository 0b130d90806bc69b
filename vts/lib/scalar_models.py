"""Small models with a scalar of one, two or four bytes that comes with the request."""

from __future__ import annotations

import struct

from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, constant, graph, tensor

REALS = {
    OperandType.TENSOR_FLOAT32: (OperandType.FLOAT32, "<f"),
    OperandType.TENSOR_FLOAT16: (OperandType.FLOAT16, "<e"),
}
"""The scalar that PAD_V2 has beside a tensor, and its form in module struct."""


def padding(chosen: Addition, scalar: OperandType) -> Model:
    """PAD_V2 of a tensor: as many elements again behind it."""
    operands = [
        tensor(chosen.operand_type, (chosen.elements,), INPUT),
        constant(OperandType.TENSOR_INT32, (1, 2), 0, 8),
        tensor(scalar, (), INPUT),
        tensor(chosen.operand_type, (2 * chosen.elements,), OUTPUT),
    ]
    return Model(graph(operands, [Operation(OperationType.PAD_V2, (0, 1, 2), (3,))]), (), integers(0, chosen.elements))


def filling() -> Model:
    """FILL of two integers."""
    operands = [
        constant(OperandType.TENSOR_INT32, (1,), 0, 4),
        tensor(OperandType.INT32, (), INPUT),
        tensor(OperandType.TENSOR_INT32, (2,), OUTPUT),
    ]
    return Model(graph(operands, [Operation(OperationType.FILL, (0, 1), (2,))]), (), integers(2))


def rank() -> Model:
    """RANK of a tensor of three dimensions."""
    operands = [tensor(OperandType.TENSOR_FLOAT32, (1, 2, 1), INPUT), tensor(OperandType.INT32, (), OUTPUT)]
    return Model(graph(operands, [Operation(OperationType.RANK, (0,), (1,))]))


def largest(chosen: Addition) -> Model:
    """REDUCE_MAX over the second dimension of a tensor: the first one is 1, and whether both are kept is an input."""
    points = {"scale": chosen.scale, "zero_point": chosen.zero_point}
    operands = [
        tensor(chosen.operand_type, (1, chosen.elements), INPUT, **points),
        constant(OperandType.TENSOR_INT32, (1,), 0, 4),
        tensor(OperandType.BOOL, (), INPUT),
        tensor(chosen.operand_type, (1, 1), OUTPUT, **points),
    ]
    return Model(graph(operands, [Operation(OperationType.REDUCE_MAX, (0, 1, 2), (3,))]), (), integers(1))


def integers(*numbers: int) -> bytes:
    """Numbers of 32 bits, as they are stored."""
    return struct.pack(f"<{len(numbers)}i", *numbers)
