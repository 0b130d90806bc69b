"""Runs a graph on the device: one operation after the other, in list order, which is an order of execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from npu_conformance.reference.device.registry import kernel
from npu_conformance.reference.device.tensors import Array, OutputInfo, tensor_of
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.catalogue import expand
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.operation_view import OperationView, constant_value
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation
from npu_conformance.specs.neuralnetworks.validate import check_operation, output_shapes, reads_data
from npu_conformance.specs.versions import Version

Values = dict[int, Array]
"""Values of operands by index; an omitted operand has none."""

Shapes = tuple[tuple[int, ...] | None, ...]
"""Shapes of an operation's inputs; null for an omitted one."""

_DATA = {kind for kind, info in OPERAND_TYPES.items() if info.is_tensor} - {int(OperandType.TENSOR_INT32)}
"""Types whose values no rule looks at: TENSOR_INT32 holds shapes, axes and paddings, scalars are parameters."""

MEMORY_BUDGET = 1 << 30
"""Bytes of device memory that one result of an operation may take."""


class Executor:
    """A graph made ready: constants are copied once, so that nothing of the client's memory is read again."""

    def __init__(self, model: Model, version: Version, pools: Sequence[memoryview]) -> None:
        """model: valid, with a kernel for each operation. pools: contents of the model's pools."""
        self._graph = model.main
        self._version = version
        self._constants: Values = {}
        for index, operand in enumerate(self._graph.operands):
            value = constant_value(model, operand, pools)
            if value is not None:
                self._constants[index] = value.copy()
        self._plans: dict[int, tuple[Shapes, list[OutputInfo]]] = {}

    def run(self, inputs: Sequence[Array | None], checkpoint: Callable[[], None]) -> list[Array]:
        """Return the model's outputs for its inputs, in order (null: the input is omitted).

        checkpoint: called before each operation; may raise to abort. Raises ServiceError(GENERAL_FAILURE) naming
        the clause that values or shapes break. Safe to call from several threads.
        """
        values = dict(self._constants)
        given = zip(self._graph.input_indexes, inputs, strict=True)
        values.update({index: value for index, value in given if value is not None})
        # Overflow, division by zero and NaN are results of operations, not errors of ours.
        with numpy.errstate(all="ignore"):
            for position in range(len(self._graph.operations)):
                checkpoint()
                self._execute(position, values)
        return [values[index] for index in self._graph.output_indexes]

    def _execute(self, position: int, values: Values) -> None:
        infos = self._plan(position, values)
        operation, operands = self._graph.operations[position], self._graph.operands
        inputs = [tensor_of(operands[i], values[i]) if i in values else None for i in operation.inputs]
        try:
            results = kernel(operation.type)(inputs, infos)
        except MemoryError as error:
            raise self._exhausted(f"operation {operation.type}: {error}") from error
        for index, result in zip(operation.outputs, results, strict=True):
            _check_dimensions(operation, operands[index], result.shape)
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
        status = ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT
        return ServiceError(status if self._version >= status.since else ErrorStatus.GENERAL_FAILURE, message)

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


def _check_presence(view: OperationView) -> None:
    """Refuse an operation whose request left out an input that is not optional."""
    arguments = expand(view.signature.inputs, view.input_count) if view.signature else None
    for position, argument in enumerate(arguments or ()):
        if not argument.optional and not view.has(position):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"{view.name}: input {argument.name} has no value")


def _check_dimensions(operation: Operation, operand: Operand, found: tuple[int, ...]) -> None:
    """Refuse a result that is not as declared; how long some results are is known only now."""
    if not agrees(operand.dimensions, found):
        what = f"an output of operation {operation.type}"
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"{what}: expected {operand.dimensions}, found {found}")


def agrees(declared: Sequence[int], actual: Sequence[int]) -> bool:
    """True where an actual shape fits a declared one: empty is an unknown rank, 0 an unknown size."""
    if not declared:
        return True
    return len(declared) == len(actual) and all(
        size in (0, found) for size, found in zip(declared, actual, strict=True)
    )


def _info(operand: Operand, shape: tuple[int, ...]) -> OutputInfo:
    return OutputInfo(operand.type, shape, operand.scale, operand.zero_point)
