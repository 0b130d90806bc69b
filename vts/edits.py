"""Edits of a wire model, each returning a new model; only the main graph is ever edited."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation


def with_operand(model: Model, index: int, **fields: Any) -> Model:
    """Change fields of one operand."""
    operands = list(model.main.operands)
    operands[index] = replace(operands[index], **fields)
    return with_main(model, operands=tuple(operands))


def with_operation(model: Model, index: int, **fields: Any) -> Model:
    """Change fields of one operation."""
    operations = list(model.main.operations)
    operations[index] = replace(operations[index], **fields)
    return with_main(model, operations=tuple(operations))


def with_main(model: Model, **fields: Any) -> Model:
    """Change fields of the main graph."""
    return replace(model, main=replace(model.main, **fields))


def with_new_operand(model: Model, operand: Operand) -> tuple[Model, int]:
    """Append an operand; return the model and the operand's index."""
    operands = (*model.main.operands, operand)
    return with_main(model, operands=operands), len(operands) - 1


def with_new_operation(model: Model, operation: Operation) -> Model:
    """Append an operation."""
    return with_main(model, operations=(*model.main.operations, operation))


def with_consumers(model: Model, index: int, change: int) -> Model:
    """Add `change` to an operand's number of consumers."""
    return with_operand(model, index, number_of_consumers=model.main.operands[index].number_of_consumers + change)


def replaced(indexes: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    """The indexes with another value at one position."""
    return (*indexes[:position], value, *indexes[position + 1 :])


def without(indexes: tuple[int, ...], position: int) -> tuple[int, ...]:
    """The indexes without the one at a position."""
    return (*indexes[:position], *indexes[position + 1 :])
