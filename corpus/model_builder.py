"""A model that grows operation by operation: the caller names operands, the rules determine the shapes of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.vectors import Example, Graph, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.wire_model import wire_operand
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Operation
from npu_conformance.specs.neuralnetworks.validate import check_operation, output_shapes
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array


class IllegalOperationError(ValueError):
    """An operation breaks a clause of its rules, which the message names."""


class ModelBuilder:
    """Operands by name and operations in an order of execution, of which `vector` makes a model with one example.

    Operands are called a0, a1, ... where the caller does not name them. version: the version whose rules hold.
    """

    def __init__(self, version: Version = NEWEST, referenced: Sequence[Graph] = ()) -> None:
        """referenced: the graphs that IF and WHILE refer to by their numbers."""
        self._version, self._referenced = version, tuple(referenced)
        self._operands: dict[str, VectorOperand] = {}
        self._inputs: dict[str, Array | None] = {}
        self._operations: list[VectorOperation] = []

    def input(self, operand: VectorOperand, array: Array | None = None, name: str = "") -> str:
        """Add a model input with the elements that its example has, if there is to be one; returns its name."""
        name = self._add(operand, name)
        self._inputs[name] = array
        return name

    def constant(self, operand: VectorOperand, array: Array, name: str = "") -> str:
        """Add a constant; returns its name."""
        return self._add(operand.with_value(array), name)

    def omitted(self, operand: VectorOperand, name: str = "") -> str:
        """Add an optional operand without value; returns its name."""
        return self._add(replace(operand, omitted=True), name)

    def add_graph(self, graph: Graph) -> int:
        """Add a graph that IF and WHILE can refer to; returns its number."""
        self._referenced = (*self._referenced, graph)
        return len(self._referenced) - 1

    def graph(self, outputs: Sequence[str]) -> Graph:
        """All that was added, as a graph for another model to refer to."""
        return Graph(self._operands, tuple(self._operations), tuple(self._inputs), tuple(outputs))

    def reference(self, number: int, name: str = "") -> str:
        """Add a reference to one of the graphs; returns its name."""
        return self._add(VectorOperand(OperandType.SUBGRAPH, subgraph=number), name)

    def apply(self, operation: str, arguments: Sequence[str], results: Sequence[VectorOperand]) -> list[str]:
        """Add an operation; returns the names of its results, whose shapes follow from its rules.

        results: their types and quantisation; dimensions only where no rule can tell them (IF, WHILE).
        Raises IllegalOperationError where a clause is broken, or no shape can be determined.
        """
        names = [self._add(result, "") for result in results]
        self._operations.append(VectorOperation(operation, tuple(arguments), tuple(names)))
        for name, shape in zip(names, self._shapes(), strict=True):
            declared = self._operands[name]
            self._operands[name] = declared.with_dimensions(shape or declared.dimensions)
            self._check_known(operation, self._operands[name])
        return names

    def operand(self, name: str) -> VectorOperand:
        """An operand as it is so far."""
        return self._operands[name]

    def is_result(self, name: str) -> bool:
        """True for an operand that an operation writes."""
        return any(name in step.outputs for step in self._operations)

    def vector(self, name: str, operation: str, outputs: Sequence[str], since: Version | None = None) -> Vector:
        """The model of all that was added. Its one example has no expected values; see `oracles.evaluate`.

        Where an input was added without elements, there is no example.
        since: the version that the vector belongs to; by default that of its newest type or combination of types.
        """
        return Vector(
            name,
            operation,
            since or self._since(),
            self._operands,
            tuple(self._operations),
            tuple(self._inputs),
            tuple(outputs),
            self._examples(),
            referenced=self._referenced,
        )

    def _examples(self) -> tuple[Example, ...]:
        given = {name: array for name, array in self._inputs.items() if array is not None}
        return (Example(given, {}),) if len(given) == len(self._inputs) else ()

    def _add(self, operand: VectorOperand, name: str) -> str:
        name = name or f"a{len(self._operands)}"
        if name in self._operands:
            raise ValueError(f"two operands are called {name}")
        self._operands[name] = operand
        return name

    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        view = self._view()
        violations = check_operation(view)
        if violations:
            raise IllegalOperationError(str(violations[0]))
        return output_shapes(view)

    def _view(self) -> OperationView:
        """The newest operation alone, whose other operands are model inputs."""
        step = self._operations[-1]
        inputs, outputs = ([self._operands[name] for name in names] for names in (step.inputs, step.outputs))
        indexes = range(len(inputs) + len(outputs))
        code = catalogue.operation_code(step.type)
        return OperationView(
            Operation(code, tuple(indexes[: len(inputs)]), tuple(indexes[len(inputs) :])),
            self._version,
            [wire_operand(operand, _lifetime(operand)) for operand in inputs],
            [wire_operand(operand, OperandLifeTime.SUBGRAPH_OUTPUT) for operand in outputs],
            values={at: operand.value for at, operand in enumerate(inputs) if operand.value is not None},
        )

    def _check_known(self, operation: str, operand: VectorOperand) -> None:
        if operand.is_open:
            raise IllegalOperationError(f"{operation}: the shape of a result cannot be determined from the model")

    def _since(self) -> Version:
        """The version that brought the newest type or combination of types."""
        versions = [OPERAND_TYPES[operand.type].since for operand in self._operands.values()]
        for step in self._operations:
            inputs, outputs = (
                tuple(self._operands[name].type.name for name in names) for names in (step.inputs, step.outputs)
            )
            versions.append(combination_since(step.type, inputs, outputs) or self._version)
        return max(versions)


def _lifetime(operand: VectorOperand) -> OperandLifeTime:
    if operand.value is not None:
        return OperandLifeTime.CONSTANT_COPY
    if operand.subgraph is not None:
        return OperandLifeTime.SUBGRAPH
    return OperandLifeTime.NO_VALUE if operand.omitted else OperandLifeTime.SUBGRAPH_INPUT
