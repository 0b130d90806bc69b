"""Conforming variants of execution."""

from __future__ import annotations

import threading
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyExecution, FaultyPreparedModel
from npu_conformance.faults.factories import faulty_models
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

Result = types.ExecutionResult
_A_MOMENT = 0.002


class _NotifiesLater(FaultyPreparedModel):
    """Executes in a thread of its own, a moment after the call has returned. Argument errors are reported at once."""

    def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
        if answer[0]:
            callback.notify(*answer)
        else:
            threading.Timer(_A_MOMENT, callback.notify, answer).start()


class _Refused(hal.Execution):
    """A request that could not be bound, which each run reports."""

    def __init__(self, error: ServiceError) -> None:
        self._error = error

    def execute_synchronously(self, deadline_ns: int) -> Result:
        raise ServiceError(self._error.status, self._error.message)

    def execute_fenced(self, *arguments: Any) -> hal.FencedExecutionResult:
        raise ServiceError(self._error.status, self._error.message)


class _ValidatesLate(FaultyPreparedModel):
    """Binds any request, and looks at it when it is run."""

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        try:
            return self.inner.create_reusable_execution(request, config)
        except ServiceError as error:
            return _Refused(error)


class _OneAfterTheOther(FaultyExecution):
    """A run waits until another one of the object has ended."""

    def __init__(self, inner: hal.Execution, request: types.Request) -> None:
        super().__init__(inner, request)
        self._turn = threading.Lock()

    def execute_synchronously(self, deadline_ns: int) -> Result:
        with self._turn:
            return self.inner.execute_synchronously(deadline_ns)


class _Queues(FaultyPreparedModel):
    """Executions of a prepared model, and runs of a reusable execution, wait for each other."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._turn = threading.Lock()

    def execute_synchronously(self, *arguments: Any) -> Result:
        with self._turn:
            return self.inner.execute_synchronously(*arguments)

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        return _OneAfterTheOther(self.inner.create_reusable_execution(request, config), request)


class _GivesWay(FaultyPreparedModel):
    """Has room for one execution, waits a moment before each, and refuses it for another one that comes meanwhile.

    shared: told where one comes.
    """

    shared: threading.Condition
    latest = 0

    def execute_synchronously(self, *arguments: Any) -> Result:
        kind = type(self)
        with self.shared:
            kind.latest += 1
            mine = kind.latest
            self.shared.notify_all()
            if self.shared.wait_for(lambda: kind.latest != mine, _A_MOMENT):
                raise ServiceError(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, "another one has come")
        return self.inner.execute_synchronously(*arguments)


def _single(context: Context, version: Version) -> Subject:
    return Subject(device=FaultyDevice(ReferenceDevice(context, version)))


VARIANTS = (
    Variant("executes-later", "Asynchronous executions notify a moment after the call.",
            faulty_models(_NotifiesLater), Version.V1_3),
    Variant("executes-later-1-1", "Asynchronous executions notify a moment after the call.",
            faulty_models(_NotifiesLater), Version.V1_1),
    Variant("validates-late", "An invalid request of a reusable execution is refused when it is run.",
            faulty_models(_ValidatesLate)),
    Variant("queues", "Executions at once are done one after the other.", faulty_models(_Queues)),
    Variant("gives-way-to-the-next", "Of synchronous executions that come at once the last one is not refused.",
            faulty_models(_GivesWay, shared=threading.Condition)),
    Variant("single-threaded", "One call after the other is taken.", FaultySubject(_single, concurrent_calls=1)),
)  # fmt: skip
"""Conforming variants at the boundary."""
