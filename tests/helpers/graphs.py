"""Graphs in few words, for tests of the validator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime as Life
from npu_conformance.specs.neuralnetworks.enums import OperandType as T
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Operand,
    Operation,
    Subgraph,
)

Struct = TypeVar("Struct", bound=msgspec.Struct)
INPUT, OUTPUT = Life.SUBGRAPH_INPUT, Life.SUBGRAPH_OUTPUT


def tensor(kind: int = T.TENSOR_FLOAT32, dimensions: Sequence[int] = (2,), lifetime: int = 0, **rest: Any) -> Operand:
    return Operand(kind, tuple(dimensions), lifetime=lifetime, **rest)


def constant(kind: int, dimensions: Sequence[int], offset: int, length: int, **rest: Any) -> Operand:
    return tensor(kind, dimensions, Life.CONSTANT_COPY, location=DataLocation(0, offset, length), **rest)


def graph(operands: Sequence[Operand], operations: Sequence[Operation]) -> Subgraph:
    """A graph whose lists and consumer counts follow from its operands and operations."""
    uses = [index for operation in operations for index in operation.inputs]
    counted = tuple(change(operand, number_of_consumers=uses.count(i)) for i, operand in enumerate(operands))
    listed = [
        tuple(index for index, operand in enumerate(counted) if operand.lifetime == lifetime)
        for lifetime in (INPUT, OUTPUT)
    ]
    return Subgraph(counted, tuple(operations), listed[0], listed[1])


def change(struct: Struct, **fields: Any) -> Struct:
    return msgspec.structs.replace(struct, **fields)
