"""Descriptors of memory that a driver manages (FW-MEM)."""

from __future__ import annotations

from npu_conformance.reference.runtime.backend import MemoryDescription, MemoryRole
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.memory import DescribedMemoryObject, Role, combined
from npu_conformance.reference.runtime.objects.memory_copy import same_type
from npu_conformance.reference.runtime.objects.operands import bad_data, bad_state
from npu_conformance.specs.neuralnetworks.types import Operand


class MemoryDescriptor:
    """A descriptor: roles, and the shape that they and the app leave."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._roles: dict[Role, MemoryRole] = {}
        self._operand: Operand | None = None
        self._dimensions: tuple[int, ...] = ()
        self._is_open = True

    def _check_open(self) -> None:
        if not self._is_open:
            raise bad_state("the descriptor has been finished")

    def add_role(self, compilation: Compilation, is_input: bool, index: int, frequency: float) -> None:
        """ANeuralNetworksMemoryDesc_addInputRole and _addOutputRole (FW-MEM-002)."""
        self._check_open()
        role = compilation, is_input, index
        if role in self._roles:
            raise bad_data("the role was declared before")
        if not compilation.is_valid:
            raise bad_data("the compilation is not finished, or has failed")
        operands = compilation.operands(is_input)
        if not 0 <= index < len(operands):
            raise bad_data(f"argument {index} of {len(operands)}")
        operand = operands[index]
        if self._operand is not None and not same_type(self._operand, operand):
            raise bad_data("an earlier role has another type or quantisation")
        dimensions = self._combined(operand, operand.dimensions)
        if not 0 < frequency <= 1:
            raise bad_data(f"frequency {frequency} must be above 0 and at most 1")
        self._roles[role] = MemoryRole(compilation.plan, is_input, index, frequency)
        self._operand, self._dimensions = operand, dimensions

    def _combined(self, operand: Operand, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that also an operand or the app has said. Raises BAD_DATA for a contradiction."""
        both = combined(self._dimensions, dimensions)
        if both is None:
            raise bad_data(f"dimensions {dimensions}, earlier {self._dimensions}")
        if both and not self._environment.extensions.is_tensor(operand.type):
            raise bad_data("a scalar has no dimensions")
        return both

    def set_dimensions(self, dimensions: tuple[int, ...]) -> None:
        """ANeuralNetworksMemoryDesc_setDimensions."""
        self._check_open()
        if self._operand is not None:
            self._dimensions = self._combined(self._operand, dimensions)
            return
        both = combined(self._dimensions, dimensions)
        if both is None:
            raise bad_data(f"dimensions {dimensions}, earlier {self._dimensions}")
        self._dimensions = both

    def finish(self) -> None:
        """ANeuralNetworksMemoryDesc_finish."""
        self._check_open()
        if not self._roles:
            raise bad_data("the descriptor has no role")
        self._is_open = False

    def allocate(self) -> DescribedMemoryObject:
        """ANeuralNetworksMemory_createFromDesc (FW-MEM-001, -008, -009)."""
        if self._is_open or self._operand is None:
            raise bad_state("the descriptor has not been finished")
        description = MemoryDescription(self._operand, self._dimensions, tuple(self._roles.values()))
        is_explicit = any(compilation.is_explicit for compilation, _, _ in self._roles)
        buffer = self._environment.memories.allocate(description, is_explicit)
        return DescribedMemoryObject(self._environment, buffer, description, frozenset(self._roles))
