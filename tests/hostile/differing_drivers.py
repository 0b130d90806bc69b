"""Drivers that compute some models wrongly: operations in some forms, and what is between operations.

Option `bug` says which bug they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from npu_conformance.reference.device.executor import Executor, Runnable, _GraphExecutor
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version

_ARITHMETIC = {OperationType.ADD, OperationType.SUB, OperationType.MUL}
_UNARY = {OperationType.ABS, OperationType.NEG, OperationType.FLOOR}
_REDUCTIONS = {
    OperationType.REDUCE_SUM, OperationType.REDUCE_MAX, OperationType.REDUCE_MIN, OperationType.REDUCE_PROD,
    OperationType.MEAN, OperationType.ARGMAX, OperationType.ARGMIN, OperationType.SPLIT, OperationType.CONCATENATION,
}  # fmt: skip


class _Graph(_GraphExecutor):
    """A graph of a driver with a bug: what is done before, or behind, each operation."""

    operands: Sequence[Any]
    operations: Sequence[Operation]

    def _execute(self, position: int, values: dict[int, Any]) -> None:
        self.operands, self.operations = self._graph.operands, self._graph.operations
        operation = self.operations[position]
        given = self.before(position, operation, dict(values))
        super()._execute(position, given)
        for index in operation.outputs:
            values[index] = given[index]
        self.behind(position, operation, values)

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        """What the operation reads."""
        return values

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        """Do harm to what is there."""

    def is_temporary(self, index: int) -> bool:
        """True for what is neither input, output nor constant."""
        return bool(self.operands[index].lifetime == OperandLifeTime.TEMPORARY_VARIABLE)


class _Relu1FromZero(_Graph):
    """RELU1 begins at 0."""

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        (index, *_) = operation.outputs
        if operation.type == OperationType.RELU1 and not self.operands[index].scale:
            values[index] = numpy.maximum(values[index], values[index].dtype.type(0))


class _BroadcastsFirst(_Graph):
    """Of an operand whose inner size is 1 the first element counts for all."""

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        right = values.get(operation.inputs[-2]) if operation.type in _ARITHMETIC else None
        if right is not None and right.ndim > 1 and right.shape[-1] == 1:
            values[operation.inputs[-2]] = numpy.full_like(right, right.flat[0])
        return values


class _InPlace(_Graph):
    """ABS, NEG and FLOOR overwrite what they read."""

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        if operation.type in _UNARY:
            values[operation.inputs[0]] = values[operation.outputs[0]]


class _HalfInside(_Graph):
    """Temporaries of float32 have half precision."""

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        for index in operation.outputs:
            if self.is_temporary(index) and values[index].dtype == numpy.float32:
                values[index] = values[index].astype(numpy.float16).astype(numpy.float32)


class _LosesTail(_Graph):
    """The last of three elements of a row is lost, as that of a tile of four."""

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        for index in operation.outputs:
            if values[index].ndim == 4 and values[index].shape[-1] == 3 and values[index].dtype == numpy.float32:
                values[index] = values[index].copy()
                values[index][..., -1] = 0


class _Wraps(_Graph):
    """What is saturated in 8 bits wraps around."""

    def behind(self, position: int, operation: Operation, values: dict[int, Any]) -> None:
        (index, *_) = operation.outputs
        if operation.type in _ARITHMETIC and values[index].dtype == numpy.uint8:
            values[index] = numpy.where(values[index] == 255, 0, values[index]).astype(numpy.uint8)


class _AxisFromFront(_Graph):
    """An axis that is counted from the end is counted from the front."""

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        if operation.type in _REDUCTIONS:
            for index in operation.inputs[1:]:
                if index in values and values[index].dtype == numpy.int32 and (values[index] < 0).all():
                    values[index] = -1 - values[index]
        return values


class _ReadsOnce(_Graph):
    """What an operation reads twice is zeros at the second time."""

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        if operation.type in _ARITHMETIC and operation.inputs[0] == operation.inputs[1]:
            values[operation.inputs[0]] = values[operation.inputs[0]] // 2
        return values


class _OutputsByNumber(_Graph):
    """Outputs are written in the order of their numbers."""

    def run(self, *arguments: Any) -> list[Any]:
        found = super().run(*arguments)
        order = sorted(range(len(found)), key=lambda place: self._graph.output_indexes[place])
        placed = [found[place] for place in order]
        same = [one.shape == other.shape and one.dtype == other.dtype for one, other in zip(found, placed, strict=True)]
        return placed if all(same) else found


class _FirstActivation(_Graph):
    """The activation of the first operation of a type is that of all."""

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        if operation.type in _ARITHMETIC:
            first = next(one for one in self.operations if one.type == operation.type)
            values[operation.inputs[-1]] = values.get(first.inputs[-1], values[operation.inputs[-1]])
        return values


class _FourAtMost(_Graph):
    """A graph of more than four operations ends with a failure."""

    def before(self, position: int, operation: Operation, values: dict[int, Any]) -> dict[int, Any]:
        if position >= 4:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "too many operations")
        return values


BUGS: dict[str, type[_Graph]] = {
    "relu1-from-zero": _Relu1FromZero,
    "broadcasts-first": _BroadcastsFirst,
    "in-place": _InPlace,
    "half-inside": _HalfInside,
    "loses-tail": _LosesTail,
    "wraps": _Wraps,
    "axis-from-front": _AxisFromFront,
    "reads-once": _ReadsOnce,
    "outputs-by-number": _OutputsByNumber,
    "first-activation": _FirstActivation,
    "four-at-most": _FourAtMost,
}


class _Executor(Executor):
    def __init__(
        self, kind: Callable[..., _Graph], model: Model, version: Version, pools: Sequence[memoryview]
    ) -> None:
        self._graphs = [kind(model, graph, version, pools, False) for graph in (model.main, *model.referenced)]


class _Device(ReferenceDevice):
    kind: type[_Graph]

    def _executor(self, model: Model, pools: list[memoryview]) -> Runnable:
        return _Executor(self.kind, model, self.version, pools)


def _create(context: Context) -> Subject:
    device = type("Device", (_Device,), {"kind": BUGS[context.options["bug"]]})
    return Subject(device=device(context, NEWEST))


_OPTIONS = {"bug": f"one of {', '.join(BUGS)}"}
plugin = Plugin(Manifest(name="differing", vendor="tests", version="1", hal_version=NEWEST, options=_OPTIONS), _create)
