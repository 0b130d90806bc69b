"""What has been added to a model of the API, and what became of it at finish."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npu_conformance.reference.runtime.backend import FinishedModel
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.operands import bad_state
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import Memory, Operand, Operation


class PlacedValue(msgspec.Struct, frozen=True):
    """A value that lies in memory. owner: keeps the memory alive."""

    memory: Memory
    offset: int
    length: int
    owner: object


class KeptPointer(msgspec.Struct, frozen=True):
    """A value above 128 bytes, which is read when the model is finished (FW-MDL-016)."""

    pointer: Pointer
    length: int


class Draft:
    """The parts of a model. finished: what became of it at finish; None before, and for ever where it is not valid.

    values: of constants and references, by the index of the operand.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.operands: list[Operand] = []
        self.operations: list[Operation] = []
        self.values: dict[int, bytes | KeptPointer | PlacedValue | Draft] = {}
        self.inputs: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()
        self.is_relaxed = False
        self.finished: FinishedModel | None = None

    def check_finished(self) -> FinishedModel:
        """What is used of a finished model. Raises BAD_STATE (FW-CMP-001, FW-MDL-020)."""
        if self.finished is None:
            raise bad_state("the model is not finished, or not valid")
        return self.finished

    def kept_pointers(self) -> list[tuple[int, Pointer, int]]:
        """Operands whose values have not been read yet, with where they are and their lengths."""
        found = ((index, value) for index, value in self.values.items() if isinstance(value, KeptPointer))
        return [(index, value.pointer, value.length) for index, value in found]

    def codes(self) -> Iterable[int]:
        """The codes of its operations and operand types."""
        return (*(operand.type for operand in self.operands), *(operation.type for operation in self.operations))
