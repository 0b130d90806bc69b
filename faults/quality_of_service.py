"""Faults in quality of service: deadlines, priorities, shortages, and executions that disturb one another.

The faults inside the reference are source edits, in quality_of_service.json; what conforms is in conforming_drivers.py.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, fault, faulty_device, faulty_models
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.outputs import regions
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority
from npu_conformance.specs.plugin import RealClock
from npu_conformance.specs.versions import Version

_MISSED = (ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_PERSISTENT)
_NONE, _GENERAL, _INVALID = ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT
Result = types.ExecutionResult


def _missing(answer: Callable[[hal.PreparedModel, tuple[Any, ...]], Result]) -> FaultySubject:
    """Synchronous executions with another answer where the reference says that the deadline was missed."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, *arguments: Any) -> Result:
            try:
                return self.inner.execute_synchronously(*arguments)
            except ServiceError as error:
                if error.status in _MISSED:
                    return answer(self.inner, arguments)
                raise

    return faulty_models(Model)


def _raising(status: int) -> Callable[[hal.PreparedModel, tuple[Any, ...]], Result]:
    def answer(inner: hal.PreparedModel, arguments: tuple[Any, ...]) -> Result:
        raise ServiceError(status, "another status")

    return answer


def _unwritten(inner: hal.PreparedModel, arguments: tuple[Any, ...]) -> Result:
    """A success without written outputs."""
    unavailable = inner.version.unavailable_time  # type: ignore[attr-defined]
    return Result(True, (), types.Timing(unavailable, unavailable))


class _HalfWritten(FaultyPreparedModel):
    """Has written half of each output when the deadline passes, and reports success."""

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, *rest: Any
    ) -> Result:
        result = self.inner.execute_synchronously(request, measure_timing, -1, *rest)
        if 0 <= deadline_ns <= self.context.clock.now_ns():
            for region in regions(self.context.memory, request, request.outputs):
                half = len(region) // 2
                region[len(region) - half :] = bytes(half)
        return result


class _RemembersTheDeadline(FaultyPreparedModel):
    """Lets every execution after a missed deadline miss it, too."""

    _missed: ServiceError | None = None

    def execute_synchronously(self, *arguments: Any) -> Result:
        if self._missed is not None:
            raise self._missed
        try:
            return self.inner.execute_synchronously(*arguments)
        except ServiceError as error:
            if error.status in _MISSED:
                self._missed = error
            raise


class _AbortsLate(FaultyPreparedModel):
    """Looks at the deadline when everything is done, and tries once more before it gives up."""

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, *rest: Any
    ) -> Result:
        result = self.inner.execute_synchronously(request, measure_timing, -1, *rest)
        if 0 <= deadline_ns <= RealClock().now_ns():
            self.inner.execute_synchronously(request, measure_timing, -1, *rest)
            raise ServiceError(_MISSED[0], "too late")
        return result


class _RefusesToExecute(FaultyPreparedModel):
    """Launches no asynchronous execution whose deadline has passed."""

    def execute(self, *arguments: Any) -> None:
        *_, deadline_ns, _loop_timeout, callback = arguments
        if 0 <= deadline_ns <= RealClock().now_ns():
            unavailable = types.Timing(2**64 - 1, 2**64 - 1)
            callback.notify(_MISSED[1], (), unavailable)
            raise ServiceError(_MISSED[1], "too late")
        self.inner.execute(*arguments)


class _MissesBesideOthers(FaultyPreparedModel):
    """An execution that ends while others run is told to have missed a deadline, at every version. shared: who runs."""

    shared: list[object]

    def execute(self, *arguments: Any) -> None:
        self.shared.append(self)
        super().execute(*arguments)

    def executed(self, callback: hal.ExecutionCallback, status: int, *rest: Any) -> None:
        self.shared.pop()
        callback.notify(_MISSED[0] if self.shared and status == _NONE else status, *rest)


class _LowWaitsForEver(FaultyPreparedModel):
    """An execution of low priority waits for a moment that never comes."""

    def execute_synchronously(self, *arguments: Any) -> Result:
        if self.inner._prepared.priority == Priority.LOW:  # type: ignore[attr-defined]
            threading.Event().wait()
        return self.inner.execute_synchronously(*arguments)


def _preparing(notify: Callable[[hal.PreparedModelCallback, int, hal.PreparedModel | None], None]) -> FaultySubject:
    """Preparations with another notification where the reference says that the deadline was missed."""

    class Device(FaultyDevice):
        def prepared(
            self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
        ) -> None:
            if status in _MISSED:
                notify(callback, status, prepared_model)
            else:
                super().prepared(callback, status, prepared_model)

    return faulty_device(Device)


class _GivesAModelAllTheSame(FaultyDevice):
    """Reports the missed deadline together with the model that was ready after it."""

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        self._model = model
        super().prepare_model(model, *rest)

    def prepared(
        self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        if status not in _MISSED:
            super().prepared(callback, status, prepared_model)
            return

        class Ready(hal.PreparedModelCallback):
            def notify(self, _: int, late: hal.PreparedModel | None) -> None:
                callback.notify(status, late)

        self.inner.prepare_model(self._model, 1, Priority.MEDIUM, -1, (), (), bytes(32), Ready())


class _RefusesToLaunch(FaultyDevice):
    """Returns to the caller what only the callback is to receive: the deadline has passed."""

    def prepare_model(self, *arguments: Any) -> None:
        super().prepare_model(*arguments)
        if 0 <= arguments[3] <= RealClock().now_ns():
            raise ServiceError(_MISSED[1], "the deadline has passed")


class _NoLowPriority(FaultyDevice):
    """Prepares no model of low priority."""

    def prepare_model(self, *arguments: Any) -> None:
        if arguments[2] == Priority.LOW:
            arguments[-1].notify(_GENERAL, None)
        else:
            super().prepare_model(*arguments)


class _CacheInventsADeadline(FaultyDevice):
    """Caches nothing, and misses a deadline that does not exist when it prepares from a cache."""

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        return types.NumberOfCacheFiles(0, 0)

    def prepare_model_from_cache(self, deadline_ns: int, *rest: Any) -> None:
        refused = _INVALID if deadline_ns < -1 else _GENERAL
        status = _MISSED[1] if deadline_ns == -1 else refused
        rest[-1].notify(status, None)
        raise ServiceError(status, "there is no cache")


_AREA = "vts.quality_of_service."
_EXECUTIONS, _PREPARATIONS = f"{_AREA}deadline.executions", f"{_AREA}deadline.preparations"
_fault = functools.partial(fault, family="qos")

FAULTS = (
    _fault("success-unwritten", "An execution that its deadline aborted is a success; nothing was written.",
           "NNHAL-QOS-005", f"{_EXECUTIONS} {_AREA}RELU.deadlines", _missing(_unwritten)),
    _fault("success-half-written", "After the deadline, the second half of each output is left out.",
           "NNHAL-QOS-005", f"{_EXECUTIONS} {_AREA}RELU.deadlines", _HalfWritten),
    _fault("execution-general-failure", "A missed deadline is GENERAL_FAILURE.", "NNHAL-QOS-003 NNHAL-ERROR-003",
           f"{_EXECUTIONS} {_AREA}RELU.deadlines", _missing(_raising(_GENERAL))),
    _fault("execution-unavailable", "A missed deadline is DEVICE_UNAVAILABLE.", "NNHAL-QOS-003 NNHAL-ERROR-003",
           f"{_EXECUTIONS} {_AREA}RELU.deadlines", _missing(_raising(ErrorStatus.DEVICE_UNAVAILABLE))),
    _fault("execution-status-9", "A missed deadline is a status that no version defines.",
           "NNHAL-QOS-003 NNHAL-ERROR-003", f"{_EXECUTIONS} {_AREA}RELU.deadlines", _missing(_raising(9))),
    _fault("deadline-remembered", "A deadline that was missed once is missed for ever.", "NNHAL-QOS-002",
           _EXECUTIONS, _RemembersTheDeadline),
    _fault("abort-is-late", "The deadline is looked at when all is done, and then all is tried again.", "NNHAL-QOS-019",
           f"{_AREA}deadline.abort_is_early", _AbortsLate, detected_as="quality-warning"),
    _fault("execution-not-launched", "An asynchronous execution past its deadline is not launched.",
           "NNHAL-QOS-003", f"{_EXECUTIONS} {_AREA}RELU.deadlines", _RefusesToExecute, Version.V1_3),
    _fault("preparation-not-launched", "A preparation past its deadline is not launched.", "NNHAL-QOS-004",
           f"{_PREPARATIONS} {_AREA}RELU.deadlines", _RefusesToLaunch),
    _fault("preparation-general-failure", "A deadline missed in preparation is GENERAL_FAILURE.",
           "NNHAL-QOS-003 NNHAL-ERROR-003", f"{_PREPARATIONS} {_AREA}RELU.deadlines",
           _preparing(lambda callback, _, model: callback.notify(_GENERAL, None))),
    _fault("preparation-invalid", "A deadline missed in preparation is INVALID_ARGUMENT.", "NNHAL-QOS-003",
           f"{_PREPARATIONS} {_AREA}RELU.deadlines",
           _preparing(lambda callback, _, model: callback.notify(_INVALID, None))),
    _fault("preparation-success-without-model", "A deadline missed in preparation is a success without a model.",
           "NNHAL-QOS-004 NNHAL-PREPARE-007", f"{_PREPARATIONS} {_AREA}RELU.deadlines",
           _preparing(lambda callback, _, model: callback.notify(_NONE, None))),
    _fault("preparation-missed-with-model", "A deadline missed in preparation comes with a model.",
           "NNHAL-QOS-004 NNHAL-PREPARE-007", f"{_PREPARATIONS} {_AREA}RELU.deadlines", _GivesAModelAllTheSame),
    _fault("no-low-priority", "No model is prepared with low priority.", "NNHAL-PREPARE-011",
           f"{_AREA}RELU.deadlines {_AREA}load.preempted_result", _NoLowPriority),
    _fault("low-never-runs", "An execution of low priority waits for ever, though nothing else runs.",
           "NNHAL-EXECUTE-001", f"{_AREA}load.preempted_result", faulty_models(_LowWaitsForEver, deadlines=IMPATIENT)),
    _fault("missed-before-1.3", "MISSED_DEADLINE_TRANSIENT under load, at 1.1.", "NNHAL-ERROR-002",
           f"{_AREA}load.asynchronous", faulty_models(_MissesBesideOthers, shared=list), Version.V1_1),
    _fault("missed-without-deadline", "An execution beside others misses a deadline that it has not.",
           "NNHAL-QOS-002", f"{_AREA}load.asynchronous", faulty_models(_MissesBesideOthers, shared=list), Version.V1_3),
    _fault("cache-invents-a-deadline", "Preparation from cache without a deadline misses it.", "NNHAL-QOS-015",
           f"{_AREA}deadline.from_cache", _CacheInventsADeadline),
)  # fmt: skip
"""Faults of quality of service at the boundary."""
