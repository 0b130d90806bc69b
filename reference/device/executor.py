"""Runs a model on the device: one operation after the other, in list order, which is an order of execution."""

import functools
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy

from npu_conformance.reference.device.registry import CONTROL_FLOW, control_flow, kernel
from npu_conformance.reference.device.shortage import shortage
from npu_conformance.reference.device.tensors import (
    Array,
    Inputs,
    OutputInfo,
    Outputs,
    Routine,
    extension_of,
    tensor_of,
)
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.operation_tables import Argument
from npu_conformance.specs.neuralnetworks.operation_view import OperationView, constant_value
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation, output_shapes, reads_data
from npu_conformance.specs.versions import Version

Values = dict[int, Array]
"""The values of operands by index; an omitted operand has no value."""

Shapes = tuple[tuple[int, ...] | None, ...]
"""The shapes of an operation's inputs; None for an omitted input."""

_DATA = {kind for kind, info in OPERAND_TYPES.items() if info.is_tensor} - {int(OperandType.TENSOR_INT32)}
"""Types whose values no rule looks at: TENSOR_INT32 holds shapes, axes and paddings, scalars are parameters."""

_MODEL_INPUT = int(OperandLifeTime.SUBGRAPH_INPUT)
_CHANGEABLE = frozenset({int(OperandLifeTime.CONSTANT_POOL), int(OperandLifeTime.NO_VALUE)})
"""Constants in pools may be written to between the check of a model and the copy of its constants."""

MEMORY_BUDGET = 1 << 30
"""Bytes of device memory that one result of an operation may take."""


class Limits(msgspec.Struct, frozen=True):
    """Callbacks that may end an execution early, by raising.

    checkpoint: called before each operation. begin_loop: called when a loop begins; returns what is called before each
    of its rounds.
    """

    checkpoint: Callable[[], None]
    begin_loop: Callable[[], Callable[[], None]]


UNLIMITED = Limits(checkpoint=lambda: None, begin_loop=lambda: lambda: None)
"""Nothing ends the execution early."""


class Runnable(Protocol):
    """What a prepared model runs."""

    def run(self, inputs: Sequence[Array | None], limits: Limits, /) -> list[Array]:
        """See Executor."""
        ...


class Executor:
    """A model made ready: constants are copied once, so that nothing of the client's memory is read again."""

    def __init__(
        self, model: Model, version: Version, pools: Sequence[memoryview], *, is_checked: bool = False
    ) -> None:
        """model: valid, with a kernel for each operation. pools: contents of the model's pools.

        is_checked: as far as the model shows, no operation breaks a clause.
        """
        graphs = (model.main, *model.referenced)
        self._graphs = [_GraphExecutor(model, graph, version, pools, is_checked) for graph in graphs]

    def run(self, inputs: Sequence[Array | None], limits: Limits) -> list[Array]:
        """Return the model's outputs for its inputs, in order (None: the input is omitted).

        Raises ServiceError(GENERAL_FAILURE) naming the clause that values or shapes break, and what the limits raise.
        Safe to call from several threads.
        """
        # Overflow, division by zero and NaN are results of operations, not errors of the device.
        with numpy.errstate(all="ignore"):
            return self._run(0, limits, inputs)

    def _run(self, number: int, limits: Limits, inputs: Sequence[Array | None]) -> list[Array]:
        """Run graph `number`: 0 is main, n + 1 is referenced[n]."""
        return self._graphs[number].run(inputs, limits, lambda other: functools.partial(self._run, other + 1, limits))


class _GraphExecutor:
    """One graph of a model, with its constants."""

    def __init__(
        self, model: Model, graph: Subgraph, version: Version, pools: Sequence[memoryview], is_checked: bool
    ) -> None:
        self._graph = graph
        self._version = version
        self._constants = constants(model, graph, pools)
        self._plans: dict[int, tuple[Shapes, list[OutputInfo]]] = {}
        if is_checked:
            decided = (at for at, operation in enumerate(graph.operations) if self._is_decided(operation))
            self._plans.update({position: self._declared_plan(graph.operations[position]) for position in decided})

    def run(self, inputs: Sequence[Array | None], limits: Limits, routine: Callable[[int], Routine]) -> list[Array]:
        """Return the graph's outputs. routine: gives the referenced graph of a number."""
        values = dict(self._constants)
        for index, value in zip(self._graph.input_indexes, inputs, strict=True):
            if value is not None:
                _check_shape(f"operand {index}, an input", self._graph.operands[index], value.shape)
                values[index] = value
        for position, operation in enumerate(self._graph.operations):
            limits.checkpoint()
            if operation.type in CONTROL_FLOW:
                self._execute_graphs(operation, values, limits, routine)
            else:
                self._execute(position, values)
        return [values[index] for index in self._graph.output_indexes]

    def _execute_graphs(
        self, operation: Operation, values: Values, limits: Limits, routine: Callable[[int], Routine]
    ) -> None:
        """Execute IF or WHILE: inputs of type SUBGRAPH name the graphs, the others are values."""
        operands = self._graph.operands
        graphs = [operands[index] for index in operation.inputs if operands[index].type == OperandType.SUBGRAPH]
        arguments = [index for index in operation.inputs if operands[index].type != OperandType.SUBGRAPH]
        for index in arguments:
            if index not in values:
                raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"operation {operation.type}: {index} has no value")
        first, second = (routine(operand.location.offset) for operand in graphs)
        given = [values[index] for index in arguments]
        results = control_flow(operation.type)((first, second), given, limits.begin_loop())
        for index, result in zip(operation.outputs, results, strict=False):
            _check_shape(f"operation {operation.type}: output {index}", operands[index], result.shape)
            values[index] = result

    def _execute(self, position: int, values: Values) -> None:
        infos = self._plan(position, values)
        operation, operands = self._graph.operations[position], self._graph.operands
        inputs = [tensor_of(operands[i], values[i]) if i in values else None for i in operation.inputs]
        vlog.log("cpuexe", lambda: f"{position}: {_called(operation, inputs, infos)}")
        try:
            with trace.span("device", catalogue.operation(operation.type).name):
                results = kernel(operation.type)(inputs, infos)
        except MemoryError as error:
            raise self._exhausted(f"operation {operation.type}: {error}") from error
        for index, result in zip(operation.outputs, results, strict=True):
            _check_shape(f"operation {operation.type}: output {index}", operands[index], result.shape)
            values[index] = result

    def _plan(self, position: int, values: Values) -> list[OutputInfo]:
        """Describe the outputs of an operation. Shapes met in its last execution need no second check."""
        operation = self._graph.operations[position]
        shapes = tuple(values[index].shape if index in values else None for index in operation.inputs)
        known, infos = self._plans.get(position, (None, []))
        if known != shapes:
            infos = self._checked(operation, values)
            if self._is_settled(operation):
                self._plans[position] = shapes, infos
        return infos

    def _is_settled(self, operation: Operation) -> bool:
        """True where shapes alone decide: every parameter is a constant, only data comes with the request."""
        if reads_data(operation.type):
            return False
        parameters = (index for index in operation.inputs if self._graph.operands[index].type not in _DATA)
        return all(index in self._constants for index in parameters)

    def _is_decided(self, operation: Operation) -> bool:
        """True where the model alone shows all that clauses look at, so that its check holds for each execution."""
        if operation.type in CONTROL_FLOW or not self._is_settled(operation):
            return False
        operands = self._graph.operands
        inputs, outputs = [operands[at] for at in operation.inputs], [operands[at] for at in operation.outputs]
        name = catalogue.operation(operation.type).name
        arguments = catalogue.reading(name, tuple([operand.type for operand in inputs])).arguments
        is_read = len(arguments) == len(inputs)
        return is_read and all(map(_is_certain, inputs, arguments)) and all(map(_fits_budget, outputs))

    def _declared_plan(self, operation: Operation) -> tuple[Shapes, list[OutputInfo]]:
        """Shapes of the inputs, and the outputs, as an execution finds them whose shapes are the declared ones."""
        operands, constants = self._graph.operands, self._constants
        inputs, outputs = [operands[at] for at in operation.inputs], [operands[at] for at in operation.outputs]
        values = {position: constants[at] for position, at in enumerate(operation.inputs) if at in constants}
        view = OperationView(operation, self._version, inputs, outputs, values=values)
        shapes = tuple(operand.dimensions for operand in view.inputs)
        return shapes, [_info(*pair) for pair in zip(view.outputs, output_shapes(view), strict=True)]

    def _checked(self, operation: Operation, values: Values) -> list[OutputInfo]:
        """Check the operation with the actual shapes and values, and describe its outputs."""
        view = self._view(operation, values)
        _check_presence(view)
        violations = check_operation(view)
        if violations:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(violations[0]))
        infos = [_info(*pair) for pair in zip(view.outputs, output_shapes(view), strict=True)]
        for position, info in enumerate(infos):
            if byte_size(info.operand_type, info.dimensions) > MEMORY_BUDGET:
                what = f"{view.name}: output {position}"
                raise self._exhausted(f"{what}: {info.dimensions} takes more than {MEMORY_BUDGET} bytes")
        return infos

    def _exhausted(self, message: str) -> ServiceError:
        return shortage(self._version, ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, message)

    def _view(self, operation: Operation, values: Values) -> OperationView:
        known = {position: values[index] for position, index in enumerate(operation.inputs) if index in values}
        return OperationView(
            operation,
            self._version,
            [self._graph.operands[index] for index in operation.inputs],
            [self._graph.operands[index] for index in operation.outputs],
            shapes={position: value.shape for position, value in known.items()},
            values=known,
            omitted=frozenset(range(len(operation.inputs))) - known.keys(),
        )


def _is_certain(operand: Operand, argument: Argument) -> bool:
    """True where a request cannot leave the input out or give it another shape, nor a client its constant a value."""
    if operand.lifetime in _CHANGEABLE or (argument.optional and operand.lifetime == _MODEL_INPUT):
        return False
    return _has_shape(operand)


def _fits_budget(operand: Operand) -> bool:
    return _has_shape(operand) and byte_size(operand.type, operand.dimensions) <= MEMORY_BUDGET


def _has_shape(operand: Operand) -> bool:
    return not OPERAND_TYPES[operand.type].is_tensor or (bool(operand.dimensions) and 0 not in operand.dimensions)


def constants(model: Model, graph: Subgraph, pools: Sequence[memoryview]) -> Values:
    """Copies of the constants of one of the model's graphs. pools: contents of the model's pools."""
    found = {index: constant_value(model, operand, pools) for index, operand in enumerate(graph.operands)}
    return {index: value.copy() for index, value in found.items() if value is not None}


def _check_presence(view: OperationView) -> None:
    """Reject an operation whose request left out an input that is not optional."""
    for position, argument in enumerate(view.arguments):
        if not argument.optional and not view.has(position):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"{view.name}: input {argument.name} has no value")


def _called(operation: Operation, inputs: Inputs, infos: Outputs) -> str:
    given = ["omitted" if tensor is None else list(tensor.data.shape) for tensor in inputs]
    return f"{catalogue.operation(operation.type).name} of {given} gives {[list(info.dimensions) for info in infos]}"


def _check_shape(what: str, operand: Operand, shape: Sequence[int]) -> None:
    """Reject a value that is not as declared: the length of some results is known only when they are computed."""
    if not agrees(operand.dimensions, shape):
        message = f"{what}: expected {operand.dimensions}, found {tuple(shape)}"
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, message)


def agrees(declared: Sequence[int], actual: Sequence[int]) -> bool:
    """True where an actual shape fits a declared one: empty is an unknown rank, 0 an unknown size."""
    if not declared:
        return True
    return len(declared) == len(actual) and all(
        size in (0, found) for size, found in zip(declared, actual, strict=True)
    )


def _info(operand: Operand, shape: tuple[int, ...]) -> OutputInfo:
    return OutputInfo(operand.type, shape, operand.scale, operand.zero_point, extension_of(operand))
