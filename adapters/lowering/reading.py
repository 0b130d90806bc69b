"""How every lowering reads an operation: its operands by position, and the values of those that are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.types import Operand, Operation

Array = npt.NDArray[Any]


class Reading(ABC):
    """One operation being read. Positions count its inputs or outputs, from 0."""

    def __init__(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        constants: Mapping[int, Array],
        omitted: frozenset[int],
    ) -> None:
        """operands: of the graph. constants: stored elements by operand index. omitted: operands without a value."""
        self.operation = operation
        self._operands = operands
        self._constants = constants
        self._omitted = omitted

    @abstractmethod
    def dimensions(self, position: int) -> tuple[int, ...]:
        """Shape of an input."""

    @property
    def input_count(self) -> int:
        """Number of inputs, omitted ones included."""
        return len(self.operation.inputs)

    @property
    def output_count(self) -> int:
        """Number of outputs."""
        return len(self.operation.outputs)

    def operand(self, position: int) -> Operand:
        """The operand at an input position."""
        return self._operands[self.operation.inputs[position]]

    def result(self, position: int = 0) -> Operand:
        """The operand at an output position."""
        return self._operands[self.operation.outputs[position]]

    def is_omitted(self, position: int) -> bool:
        """True where an input is absent or has no value."""
        return position >= self.input_count or self.operation.inputs[position] in self._omitted

    def value(self, position: int) -> Array:
        """Stored elements of an input that has to be constant. Raises LoweringError where it is computed."""
        index = self.operation.inputs[position]
        if index not in self._constants:
            raise LoweringError(f"input {position} has to be constant")
        return self._constants[index]

    def scalar(self, position: int, default: Any = None) -> Any:
        """Value of a scalar input; `default` where the input is absent."""
        if self.is_omitted(position):
            return default
        return self.value(position).reshape(-1)[0].item()

    def activation(self, position: int) -> int:
        """The fused activation at an input position; .tflite has the same codes. Raises LoweringError for another."""
        code = self.scalar(position)
        if code not in tuple(FusedActivation):
            raise LoweringError(f"fused activation {code} is unknown")
        return int(code)

    def is_type(self, position: int, *types: OperandType) -> bool:
        """True where an input has one of the types."""
        return self.operand(position).type in types
