"""Drivers that compute rare models wrongly: forms of operations, and what lies between several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from npu_conformance.faults.fault import FaultySubject, FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.reference.device.executor import Executor, Runnable, _GraphExecutor
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_SHAPES = {OperationType.RESHAPE, OperationType.SQUEEZE, OperationType.EXPAND_DIMS}
_SUMS = {OperationType.ADD, OperationType.SUB}
Values = dict[int, Any]


class FaultyGraph(_GraphExecutor):
    """A graph of a driver with a fault: what is done before, or behind, each operation."""

    operands: Sequence[Any]
    operations: Sequence[Operation]

    def _execute(self, position: int, values: Values) -> None:
        self.operands, self.operations = self._graph.operands, self._graph.operations
        operation = self.operations[position]
        given = self.before(position, operation, dict(values))
        super()._execute(position, given)
        for index in operation.outputs:
            values[index] = given[index]
        self.behind(position, operation, values)

    def before(self, position: int, operation: Operation, values: Values) -> Values:
        """What the operation reads."""
        return values

    def behind(self, position: int, operation: Operation, values: Values) -> None:
        """Do harm to what is there."""

    def is_temporary(self, index: int) -> bool:
        """True for what is neither input, output nor constant."""
        return bool(self.operands[index].lifetime == OperandLifeTime.TEMPORARY_VARIABLE)

    def readers(self, index: int) -> list[int]:
        """The positions of operations that read an operand."""
        return [place for place, part in enumerate(self.operations) if index in part.inputs]

    def corrupt(self, index: int, values: Values) -> None:
        """Make the last element another one."""
        array = values[index].copy()
        if array.size:
            array.flat[-1] = not array.flat[-1] if array.dtype == bool else 0 if array.flat[-1] else 7
        values[index] = array


class _ThirdReader(FaultyGraph):
    def before(self, position: int, operation: Operation, values: Values) -> Values:
        for index in set(operation.inputs):
            if index in values and self.is_temporary(index) and self.readers(index)[2:3] == [position]:
                self.corrupt(index, values)
        return values


class _ReadOutput(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        for index in operation.outputs:
            if index in self._graph.output_indexes and self.readers(index) and self.readers(index)[-1] > position + 1:
                self.corrupt(index, values)


class _SameInputs(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        for other in self.operations[:position]:
            same = other.inputs[:1] == operation.inputs[:1] and other.type == operation.type
            if same and values[other.outputs[0]].shape == values[operation.outputs[0]].shape:
                values[operation.outputs[0]] = values[other.outputs[0]]


class _ShapeChain(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        if operation.type in _SHAPES and any(
            operation.inputs[0] in other.outputs and other.type in _SHAPES for other in self.operations
        ):
            self.corrupt(operation.outputs[0], values)


class _SumsOfLarge(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        if operation.type in _SUMS and array.dtype == numpy.int32 and (abs(array.astype("int64")) > 2**24).any():
            values[operation.outputs[0]] = array.astype(numpy.float32).astype(numpy.int32)


class _DeepBytes(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        index = operation.outputs[0]
        if position > 2 and self.is_temporary(index) and values[index].dtype in (numpy.uint8, numpy.int8):
            self.corrupt(index, values)


class _UnusedFirst(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        if (
            len(operation.outputs) > 1
            and not self.readers(operation.outputs[0])
            and position < len(self.operations) - 1
        ):
            self.corrupt(operation.outputs[1], values)


class _ManyRows(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        if operation.type == OperationType.CONCATENATION and len(operation.inputs) > 4 and array.ndim > 2:
            self.corrupt(operation.outputs[0], values)


class _TransposedHalf(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        if operation.type == OperationType.TRANSPOSE and array.ndim == 4 and array.dtype == numpy.float16:
            order = tuple(values.get(operation.inputs[1], numpy.zeros(0)).tolist())
            if order and order[0] == 3:
                self.corrupt(operation.outputs[0], values)


class _WideWindow(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        strides = [int(values[i]) for i in operation.inputs[-7:-1] if i in values and values[i].ndim == 0]
        is_window = operation.type in (
            OperationType.AVERAGE_POOL_2D,
            OperationType.MAX_POOL_2D,
            OperationType.L2_POOL_2D,
        )
        if is_window and 3 in strides and 2 in strides and 1 in strides:
            self.corrupt(operation.outputs[0], values)


class _EqualOperands(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        if operation.type in (OperationType.MAXIMUM, OperationType.MINIMUM) and len(set(operation.inputs[:2])) == 1:
            self.corrupt(operation.outputs[0], values)


class _OneElementBranch(FaultyGraph):
    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        if operation.type == OperationType.SELECT and array.ndim == 1 and array.size > 3:
            self.corrupt(operation.outputs[0], values)


class _Executor(Executor):
    def __init__(
        self, kind: Callable[..., FaultyGraph], model: Model, version: Version, pools: Sequence[memoryview]
    ) -> None:
        self._graphs = [kind(model, graph, version, pools, False) for graph in (model.main, *model.referenced)]


def _computing(kind: type[FaultyGraph]) -> FaultySubject:
    class Device(ReferenceDevice):
        def _executor(self, model: Model, pools: list[memoryview]) -> Runnable:
            return _Executor(kind, model, self.version, pools)

    def create(context: Context, version: Version) -> Subject:
        return Subject(device=Device(context, version))

    return FaultySubject(create)


_BREAKS = "NNHAL-EXECUTE-001"
FAULTS: tuple[FuzzFault, ...] = rows(
    "differential",
    ("third-reader", "The third operation that reads a temporary finds it changed.", _BREAKS, _computing(_ThirdReader)),
    ("read-output", "An output that a later operation reads, not the next, is overwritten.",
     _BREAKS, _computing(_ReadOutput)),
    ("same-inputs", "Two operations of one type and one first input are computed once.",
     _BREAKS, _computing(_SameInputs)),
    ("shape-chain", "Of two changes of shape in a row the second loses an element.", _BREAKS, _computing(_ShapeChain)),
    ("sums-of-large", "Sums of int32 beyond 2^24 are computed as float32.", _BREAKS, _computing(_SumsOfLarge)),
    ("deep-bytes", "Temporaries of 8 bits lose an element from the fourth operation on.",
     _BREAKS, _computing(_DeepBytes)),
    ("unused-first", "The second result of an operation is lost where nobody reads the first.",
     _BREAKS, _computing(_UnusedFirst)),
    ("many-rows", "Four or more inputs of CONCATENATION of rank 3 lose an element.", _BREAKS, _computing(_ManyRows)),
    ("transposed-half", "A TRANSPOSE of float16 with the last axis first loses an element.",
     _BREAKS, _computing(_TransposedHalf)),
    ("wide-window", "Pooling with 3, 2 and 1 among its strides and window loses an element.",
     _BREAKS, _computing(_WideWindow)),
    ("equal-operands", "MAXIMUM or MINIMUM of an operand with itself loses an element.",
     _BREAKS, _computing(_EqualOperands)),
    ("long-choice", "SELECT of a row of four or more loses an element.", _BREAKS, _computing(_OneElementBranch)),
)  # fmt: skip
