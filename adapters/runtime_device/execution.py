"""One execution through the C API, on behalf of a client of the HAL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.adapters.runtime_device.visibility import is_by_pointer
from npu_conformance.harness.nnapi.errors import CallError, require
from npu_conformance.harness.nnapi.executions import MemoryObjects, set_arguments
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    UNAVAILABLE_DURATION,
    DurationCode,
    ResultCode,
    status_of_result,
)
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import Version

_NANOSECONDS_OF_A_MICROSECOND = 1000
NO_TIMES = (-1, 2**64 - 1)
"""Deadlines and durations that stand for none, in HIDL and AIDL."""


AtEnd = Callable[[Callable[[], None]], None]
"""Is given what destroys an object of the runtime, in the moment in which nobody holds the HAL's any more."""


def at_once(destroy: Callable[[], None]) -> None:
    """Destroy it in that moment: for a runtime in this process."""
    destroy()


@dataclass(frozen=True)
class Compiled:
    """A compilation, and what is known of where it came from. version: of the HAL that is played."""

    runtime: Runtime
    handle: int
    model: types.Model
    version: Version
    clock: Clock
    at_end: AtEnd


@dataclass(frozen=True)
class Terms:
    """How to execute, in the HAL's words."""

    measure: bool
    deadline_ns: int
    loop_timeout_ns: int


def as_service_error(error: CallError) -> ServiceError:
    """The error of a driver that stands for a function that failed."""
    return ServiceError(status_of_result(error.result), str(error))


def timeout_until(deadline_ns: int, clock: Clock) -> int:
    """The duration until a deadline, 1 where it has passed: 0 would be no timeout. 0 for no deadline."""
    return 0 if deadline_ns in NO_TIMES else max(deadline_ns - clock.now_ns(), 1)


class ApiExecution:
    """An ANeuralNetworksExecution with its arguments set. Raises CallError, after which nothing of it is left."""

    def __init__(self, compiled: Compiled, request: types.Request, terms: Terms) -> None:
        self._compiled, self._runtime = compiled, compiled.runtime
        self._outputs, self._terms = len(request.outputs), terms
        self._objects = MemoryObjects(self._runtime)
        made = self._runtime.execution_create(compiled.handle, True)
        require("execution_create", made.result)
        self.handle = made.handle
        try:
            objects = None if is_by_pointer(request) else self._objects
            set_arguments(self._runtime, self.handle, compiled.model, request, objects)
            self._set_terms(terms)
        except BaseException:
            self.free()
            raise

    def _set_terms(self, terms: Terms) -> None:
        if terms.measure:
            result = self._runtime.execution_set_measure_timing(self.handle, True)
            require("execution_set_measure_timing", result)
        timeout = timeout_until(terms.deadline_ns, self._compiled.clock)
        if timeout:
            require("execution_set_timeout", self._runtime.execution_set_timeout(self.handle, timeout))
        if terms.loop_timeout_ns not in NO_TIMES:
            result = self._runtime.execution_set_loop_timeout(self.handle, terms.loop_timeout_ns)
            require("execution_set_loop_timeout", result)

    def compute(self) -> int:
        """Execute and wait; returns the result code."""
        if "execution_compute" in self._runtime.functions():
            return self._runtime.execution_compute(self.handle)
        return self.start_and_wait()

    def start_and_wait(self) -> int:
        """Start, and wait for the event; returns the first result code that is no success."""
        started = self._runtime.execution_start_compute(self.handle, True)
        if started.result != ResultCode.NO_ERROR:
            return started.result
        try:
            return self._runtime.event_wait(started.handle)
        finally:
            self._runtime.event_free(started.handle)

    def result(self, code: int) -> types.ExecutionResult:
        """What a result code stands for in the HAL. Raises ServiceError for failures."""
        status = status_of_result(code)
        if status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE):
            raise ServiceError(status, f"the execution ended with result code {code}")
        is_success = status == ErrorStatus.NONE
        codes = (DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER)
        timing = self.timing(*codes) if is_success and self._terms.measure else no_timing(self._compiled.version)
        return types.ExecutionResult(is_success, self._shapes(), timing)

    def _shapes(self) -> tuple[types.OutputShape, ...]:
        """The shapes of all outputs; none below feature level 3, which has no functions for them."""
        if self._compiled.version < Version.V1_2:
            return ()
        return tuple(self._shape(index) for index in range(self._outputs))

    def _shape(self, index: int) -> types.OutputShape:
        rank = self._runtime.execution_get_output_operand_rank(self.handle, index, True)
        is_sufficient = rank.result != ResultCode.OUTPUT_INSUFFICIENT_SIZE
        if is_sufficient:
            require("execution_get_output_operand_rank", rank.result)
        if rank.value == 0:
            return types.OutputShape((), is_sufficient)
        found = self._runtime.execution_get_output_operand_dimensions(self.handle, index, True)
        return types.OutputShape(found.values, is_sufficient)

    def timing(self, on_device: DurationCode, in_driver: DurationCode) -> types.Timing:
        """Two durations, in the unit of the HAL."""
        return types.Timing(self._duration(on_device), self._duration(in_driver))

    def _duration(self, code: DurationCode) -> int:
        found = self._runtime.execution_get_duration(self.handle, code, True)
        require("execution_get_duration", found.result)
        if found.value == UNAVAILABLE_DURATION:
            return self._compiled.version.unavailable_time
        return found.value if self._compiled.version.is_aidl else found.value // _NANOSECONDS_OF_A_MICROSECOND

    def free(self) -> None:
        """Destroy it and its memory objects."""
        self._runtime.execution_free(self.handle)
        self._objects.close()


def no_timing(version: Version) -> types.Timing:
    """The timing of an execution that was not measured."""
    return types.Timing(version.unavailable_time, version.unavailable_time)
