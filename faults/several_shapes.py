"""Faults in executing one prepared model with several shapes: something of the first execution is kept for all."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault
from npu_conformance.faults.outputs import Outputs
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType

Result = types.ExecutionResult


class _OfOneOperation(FaultyPreparedModel):
    """Executes models with one operation otherwise. operation: which one."""

    operation: OperationType

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        inner: Any = self.inner
        if self.operation not in {one.type for one in inner.model.main.operations}:
            return self.inner.execute_synchronously(request, *rest)
        return self.run(request, *rest)

    def run(self, request: types.Request, *rest: Any) -> Result:
        """Execute such a model."""
        raise NotImplementedError


class _RoomOfTheFirst(_OfOneOperation):
    """Computes no more elements than the first time."""

    _sizes: list[int] | None = None

    def run(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        outputs = Outputs(self.context.memory, request)
        contents = outputs.read()
        self._sizes = self._sizes or [len(content) for content in contents]
        known = zip(contents, self._sizes, strict=True)
        outputs.write([content[:size] + bytes(len(content) - min(size, len(content))) for content, size in known])
        return result


class _ShapesOfTheFirst(_OfOneOperation):
    """Reports the shapes of the first time."""

    _shapes: tuple[types.OutputShape, ...] = ()

    def run(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        self._shapes = self._shapes or result.output_shapes
        return replace(result, output_shapes=self._shapes)


class _RefusesOtherShapes(_OfOneOperation):
    """Cannot execute with other sizes than the first time."""

    _sizes: list[int] | None = None

    def run(self, request: types.Request, *rest: Any) -> Result:
        sizes = [argument.location.length for argument in request.inputs]
        self._sizes = self._sizes or sizes
        if sizes != self._sizes:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "compiled for another shape")
        return self.inner.execute_synchronously(request, *rest)


_KINDS = {
    "room": (_RoomOfTheFirst, "computes no more elements than the first time", "NNHAL-PREPARE-014 NNHAL-EXECUTE-001"),
    "shapes": (_ShapesOfTheFirst, "reports the shapes of the first time", "NNHAL-SHAPE-002"),
    "refused": (_RefusesOtherShapes, "fails with other sizes than the first time", "NNHAL-PREPARE-014"),
}
_OPERATIONS = ("RELU", "ADD", "SOFTMAX", "CONV_2D", "MAX_POOL_2D", "REDUCE_SUM", "LSTM", "DEPTH_TO_SPACE", "EQUAL")


def _row(operation: str, name: str) -> Fault:
    kind, what, breaks = _KINDS[name]
    mechanism = type(kind.__name__, (kind,), {"operation": OperationType[operation]})
    return fault(f"{name}-{operation.lower().replace('_', '-')}", f"{operation} {what}.", breaks,
                 f"vts.several_shapes.{operation}.executed", mechanism, family="several-shapes")  # fmt: skip


FAULTS = tuple(_row(operation, name) for operation in _OPERATIONS for name in _KINDS)
"""Faults of one prepared model that is executed with several shapes, for some operations each."""
