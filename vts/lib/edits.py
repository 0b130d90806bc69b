"""Edits of a wire model, each returning a new model. They edit the main graph; `within` takes them into another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation
from npu_conformance.specs.versions import Version


def with_operand(model: Model, index: int, **fields: Any) -> Model:
    """Change fields of one operand."""
    operands = model.main.operands
    changed = replace(operands[index], **fields)
    return with_main(model, operands=(*operands[:index], changed, *operands[index + 1 :]))


def with_operation(model: Model, index: int, **fields: Any) -> Model:
    """Change fields of one operation."""
    operations = model.main.operations
    changed = replace(operations[index], **fields)
    return with_main(model, operations=(*operations[:index], changed, *operations[index + 1 :]))


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


def counted(model: Model, version: Version) -> Model:
    """Bring the numbers of consumers in step with the operations; AIDL has no such numbers."""
    if version.is_aidl:
        return model
    uses = [0] * len(model.main.operands)
    for operation in model.main.operations:
        for index in operation.inputs:
            if index < len(uses):
                uses[index] += 1
    operands = tuple(
        operand if operand.number_of_consumers == found else replace(operand, number_of_consumers=found)
        for operand, found in zip(model.main.operands, uses, strict=True)
    )
    return with_main(model, operands=operands)


def as_constant(model: Model, index: int, size: int, **fields: Any) -> Model:
    """Make an operand a constant of `size` bytes at the start of the model's values, which grow if they must."""
    place = DataLocation(length=size)
    edited = with_operand(model, index, lifetime=OperandLifeTime.CONSTANT_COPY, location=place, **fields)
    return replace(edited, operand_values=model.operand_values.ljust(size, b"\0"))


def within(model: Model, number: int, edit: Callable[[Model], Model]) -> Model:
    """Apply an edit to a referenced graph, as if it were the main one."""
    edited = edit(replace(model, main=model.referenced[number]))
    graphs = (*model.referenced[:number], edited.main, *model.referenced[number + 1 :])
    return replace(edited, main=model.main, referenced=graphs)


def replaced(indexes: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    """The indexes with another value at one position."""
    return (*indexes[:position], value, *indexes[position + 1 :])


def without(indexes: tuple[int, ...], position: int) -> tuple[int, ...]:
    """The indexes without the one at a position."""
    return (*indexes[:position], *indexes[position + 1 :])
