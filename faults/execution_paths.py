"""Faults in the ways of execution: asynchronous, synchronous, and several at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, fault, faulty_device, faulty_models
from npu_conformance.faults.outputs import Outputs
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

Result = types.ExecutionResult
_A_WHILE = 0.02
"""How many seconds make sure that two concurrent calls overlap."""


# Asynchronous


class _NotifiesBeforeItWrites(FaultyPreparedModel):
    """Notifies first, and writes the outputs then."""

    def execute(self, request: types.Request, *rest: Any) -> None:
        outputs = Outputs(self.context.memory, request)
        *most, client = rest
        before = outputs.read()
        told = _Kept()
        watched = (*most, told)
        self.inner.execute(request, *watched)
        if told.wait()[0] == ErrorStatus.NONE:
            after = outputs.read()
            outputs.write(before)
            client.notify(*told.wait())
            outputs.write(after)
        else:
            client.notify(*told.wait())


class _Kept(hal.ExecutionCallback):
    """Keeps the answer for the caller that waits for it."""

    def __init__(self) -> None:
        self._answer: tuple[Any, ...] = ()
        self._told = threading.Event()

    def notify(self, *answer: Any) -> None:
        self._answer = answer
        self._told.set()

    def wait(self) -> tuple[Any, ...]:
        """The answer, once it has come."""
        self._told.wait()
        return self._answer


def _refusals(relay: Callable[[hal.PreparedModel, tuple[Any, ...]], None]) -> type[FaultyPreparedModel]:
    class Model(FaultyPreparedModel):
        def execute(self, *arguments: Any) -> None:
            relay(self.inner, arguments)

    return Model


def _not_notified(inner: hal.PreparedModel, arguments: tuple[Any, ...]) -> None:
    told = _Kept()
    watched = (*arguments[:-1], told)
    inner.execute(*watched)
    arguments[-1].notify(*told.wait())


def _not_returned(inner: hal.PreparedModel, arguments: tuple[Any, ...]) -> None:
    try:
        inner.execute(*arguments)
    except ServiceError:
        return


def _notified_twice(inner: hal.PreparedModel, arguments: tuple[Any, ...]) -> None:
    try:
        inner.execute(*arguments)
    except ServiceError as error:
        arguments[-1].notify(error.status, (), None)
        raise


class _KeepsOneRequest(FaultyPreparedModel):
    """Keeps one request only: a second launch replaces one that has not begun yet."""

    _slot: tuple[Any, ...] = ()

    def execute(self, *arguments: Any) -> None:
        self._slot = arguments
        threading.Thread(target=self._later, daemon=True).start()

    def _later(self) -> None:
        time.sleep(_A_WHILE)
        arguments, self._slot = self._slot, ()
        if arguments:
            self.inner.execute(*arguments)


# Synchronous


class _ReturnsBeforeItIsDone(FaultyPreparedModel):
    """Returns the answer at once, and writes the outputs a moment later."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        outputs = Outputs(self.context.memory, request)
        before = outputs.read()
        result = self.inner.execute_synchronously(request, *rest)
        after = outputs.read()
        outputs.write(before)
        threading.Timer(_A_WHILE, outputs.write, [after]).start()
        return result


class _FlipsEverySecond(FaultyPreparedModel):
    """Every second result differs in a bit that no tolerance shows."""

    _count = 0

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        self._count += 1
        if self._count % 2 == 0:
            Outputs(self.context.memory, request).flip()
        return result


class _AlignsDown(FaultyPreparedModel):
    """Assumes that inputs begin at multiples of 64 bytes."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        inputs = tuple(
            replace(one, location=replace(one.location, offset=one.location.offset // 64 * 64))
            for one in request.inputs
        )
        return self.inner.execute_synchronously(replace(request, inputs=inputs), *rest)


class _NoPadding(FaultyPreparedModel):
    """Counts the padding of an input as data, which is then too long."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        if any(argument.location.padding for argument in request.inputs):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "an input is too long")
        return self.inner.execute_synchronously(request, *rest)


class _MapsInputsWritable(FaultyPreparedModel):
    """Maps every pool for writing, even one that may only be read."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        if any(pool.pool is not None and not pool.pool.prot & 2 for pool in request.pools):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "a pool cannot be mapped")
        return self.inner.execute_synchronously(request, *rest)


# Several at once


class _SharedRequest(FaultyPreparedModel):
    """Requests wait in a place that all callers share."""

    _arguments: tuple[Any, ...] = ()

    def execute_synchronously(self, *arguments: Any) -> Result:
        self._arguments = arguments
        time.sleep(_A_WHILE)
        return self.inner.execute_synchronously(*self._arguments)


class _SharedScratch(FaultyPreparedModel):
    """Results wait in a buffer that all callers share until they are copied to their places."""

    _scratch: list[bytes]

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        outputs = Outputs(self.context.memory, request)
        self._scratch = outputs.read()
        time.sleep(_A_WHILE)
        pairs = zip(self._scratch, outputs.read(), strict=True)
        outputs.write([new[: len(old)].ljust(len(old), b"\0") for new, old in pairs])
        return result


class _RefusesTheSecond(FaultyPreparedModel):
    """Has room for one execution, and rejects another one meanwhile."""

    _busy = False

    def execute_synchronously(self, *arguments: Any) -> Result:
        if self._busy:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "busy")
        self._busy = True
        time.sleep(_A_WHILE)
        self._busy = False
        return self.inner.execute_synchronously(*arguments)


class _PreparesOne(FaultyDevice):
    """A preparation that has not ended is dropped for the next one."""

    _number = 0

    def prepared(
        self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        self._number += 1
        arguments = (self._number, callback, status, prepared_model)
        threading.Timer(_A_WHILE, self._tell, arguments).start()

    def _tell(
        self, number: int, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        if number == self._number:
            super().prepared(callback, status, prepared_model)


_ANY = "vts.generated.RELU.float32_*"
_OURS = "vts.executions"

FAULTS = (
    fault("execute-notifies-before-it-writes", "The notification comes before the outputs are written.",
          "NNHAL-EXECUTE-003", f"{_OURS}.asynchronous.done_when_notified", _NotifiesBeforeItWrites, Version.V1_3),
    fault("execute-refusal-not-notified", "An argument error is returned, but not notified.", "NNHAL-EXECUTE-004",
          f"{_OURS}.asynchronous.refused_both_ways", _refusals(_not_notified), Version.V1_0),
    fault("execute-refusal-not-returned", "An argument error is notified, but not returned.", "NNHAL-EXECUTE-004",
          f"{_OURS}.asynchronous.refused_both_ways", _refusals(_not_returned), Version.V1_2),
    fault("execute-refusal-notified-twice", "An argument error is notified twice.", "NNHAL-EXECUTE-004",
          f"{_OURS}.asynchronous.refused_both_ways", _refusals(_notified_twice), Version.V1_1),
    fault("execute-one-request-only", "A launch replaces another execution that has not begun.", "NNHAL-EXECUTE-007",
          f"{_OURS}.concurrent.launched_ahead", faulty_models(_KeepsOneRequest, deadlines=IMPATIENT), Version.V1_2),
    fault("execute-returns-before-it-is-done", "A synchronous execution returns before its outputs are written.",
          "NNHAL-EXECUTE-006", f"{_OURS}.paths.done_at_return {_ANY}", _ReturnsBeforeItIsDone),
    fault("execute-not-deterministic", "Every second result differs in one bit.", "NNHAL-EXECUTE-018",
          f"{_OURS}.request.used_twice vts.generated.LOGISTIC.float32_*", _FlipsEverySecond),
    fault("execute-aligns-inputs", "Inputs are read from a multiple of 64 bytes.", "NNHAL-EXECUTE-011",
          f"{_OURS}.layout.compact vts.generated.ADD.*", _AlignsDown),
    fault("execute-counts-padding", "Inputs with padding are too long.", "NNHAL-EXECUTE-011",
          f"{_OURS}.layout.padded {_ANY}", _NoPadding),
    fault("execute-maps-inputs-writable", "A pool that may only be read cannot be mapped.", "NNHAL-EXECUTE-010",
          "vts.memory.inputs.read_only", _MapsInputsWritable),
    fault("concurrent-shared-request", "Executions at once share the place of their request.", "NNHAL-EXECUTE-007",
          f"{_OURS}.concurrent.one_prepared_model {_OURS}.concurrent.other_sizes", _SharedRequest),
    fault("concurrent-shared-scratch", "Executions at once share a buffer for their results.", "NNHAL-EXECUTE-007",
          f"{_OURS}.concurrent.one_prepared_model", _SharedScratch),
    fault("concurrent-refused", "A second execution at once is refused.", "NNHAL-EXECUTE-007",
          f"{_OURS}.concurrent.one_prepared_model {_OURS}.concurrent.with_other_calls", _RefusesTheSecond,
          detected_as="quality-warning"),
    fault("prepare-drops-the-earlier", "A preparation that has not ended is dropped for the next one.",
          "NNHAL-PREPARE-012", f"{_OURS}.preparations.launched_ahead {_OURS}.preparations.by_several_threads",
          faulty_device(_PreparesOne, deadlines=IMPATIENT)),
)  # fmt: skip
"""Faults of execution paths at the boundary."""
