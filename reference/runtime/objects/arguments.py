"""Arguments of executions: what the setters check (FW-EXE-004 to -007)."""

from __future__ import annotations

import msgspec

from npu_conformance.reference.runtime.backend import Argument
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.memory import (
    DescribedMemoryObject,
    MemoryObject,
    OpaqueMemoryObject,
    Role,
)
from npu_conformance.reference.runtime.objects.operands import (
    bad_data,
    bad_state,
    check_description,
    has_unknown_dimensions,
)
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.versions import Version

_LARGEST = 2**32 - 1


class SetArgument(msgspec.Struct, frozen=True):
    """An argument that was set. owner: the memory object in which it lies, kept alive by it."""

    argument: Argument
    owner: MemoryObject | None = None


class Arguments:
    """The inputs, or the outputs, of one execution."""

    def __init__(self, environment: Environment, operands: list[Operand], is_input: bool) -> None:
        self._environment, self.operands, self._is_input = environment, operands, is_input
        self.set: list[SetArgument | None] = [None] * len(operands)

    def are_all_set(self) -> bool:
        """Whether none is missing (FW-EXE-011)."""
        return None not in self.set

    def given(self) -> list[SetArgument]:
        """Those that were set."""
        return [one for one in self.set if one is not None]

    def set_pointer(
        self, index: int, described: OperandDescription | None, buffer: Pointer | None, length: int, padded: bool
    ) -> None:
        """Let an argument lie behind a pointer, or omit it. padded: it may be longer than its operand."""
        operand = self._operand(index)
        self._check_description(operand, described, may_be_unknown=buffer is None)
        if length > _LARGEST:
            raise bad_data(f"an argument of {length} bytes")
        self._check_unset(index)
        dimensions = self._dimensions(operand, described)
        if buffer is None:
            self.set[index] = SetArgument(Argument(dimensions))
            return
        if length <= 0:
            raise bad_data("a pointer to no bytes")
        padding = self._padding(operand, dimensions, length, padded)
        argument = Argument(dimensions, buffer.memory, buffer.offset, length - padding, padding, is_pointer=True)
        self.set[index] = SetArgument(argument)

    def set_memory(
        self,
        role: Role,
        described: OperandDescription | None,
        memory: MemoryObject,
        offset: int,
        length: int,
        padded: bool,
    ) -> None:
        """Let an argument lie in a memory object. role: of the memory; its last part is the index."""
        index = role[-1]
        operand = self._operand(index)
        self._check_description(operand, described, may_be_unknown=False)
        memory.check_argument(role, described, offset, length)
        self._check_unset(index)
        dimensions = self._dimensions(operand, described)
        if isinstance(memory, DescribedMemoryObject):
            argument = Argument(dimensions, buffer=memory.buffer)
        elif isinstance(memory, OpaqueMemoryObject):
            argument = Argument(dimensions, memory.memory)
        else:
            padding = self._padding(operand, dimensions, length, padded)
            argument = Argument(dimensions, memory.memory, offset, length - padding, padding)
        self.set[index] = SetArgument(argument, memory)

    def _operand(self, index: int) -> Operand:
        if not 0 <= index < len(self.operands):
            raise bad_data(f"argument {index} of {len(self.operands)}")
        return self.operands[index]

    def _check_unset(self, index: int) -> None:
        if self.set[index] is not None:
            raise bad_state(f"argument {index} was set before")

    def _check_description(self, operand: Operand, described: OperandDescription | None, may_be_unknown: bool) -> None:
        """A type may fill in what the model left unknown, and say nothing else (FW-EXE-005, -006)."""
        extensions, level = self._environment.extensions, self._environment.level
        may_be_unknown = may_be_unknown or (not self._is_input and level >= Version.V1_2)
        if described is not None:
            check_description(described, extensions, level, may_be_unknown)
            self._check_agrees(operand, described.dimensions or ())
        elif not may_be_unknown and has_unknown_dimensions(operand.type, operand.dimensions, extensions):
            raise bad_data(f"dimensions {operand.dimensions} of the model are not all known")

    def _check_agrees(self, operand: Operand, dimensions: tuple[int, ...]) -> None:
        declared = operand.dimensions
        if not declared:
            if dimensions and not self._environment.extensions.is_tensor(operand.type):
                raise bad_data("a scalar has no dimensions")
            return
        if len(declared) != len(dimensions) or any(
            one not in (0, given) for one, given in zip(declared, dimensions, strict=True)
        ):
            raise bad_data(f"dimensions {dimensions}, the model says {declared}")

    def _dimensions(self, operand: Operand, described: OperandDescription | None) -> tuple[int, ...]:
        return operand.dimensions if described is None else described.dimensions or ()

    def _padding(self, operand: Operand, dimensions: tuple[int, ...], length: int, padded: bool) -> int:
        """How many of the bytes lie behind the value. Raises BAD_DATA for a length that is wrong (FW-EXE-007)."""
        size = self._environment.extensions.byte_size(operand.type, dimensions)
        if operand.type == OperandType.OEM or size == 0 or size == length:
            return 0
        if length < size or not padded:
            raise bad_data(f"{length} bytes, the operand has {size}")
        return length - size
