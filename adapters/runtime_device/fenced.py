"""Executions that wait for fences, through the C API."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence

from npu_conformance.adapters.runtime_device.execution import NO_TIMES, ApiExecution, Compiled, Terms, no_timing
from npu_conformance.harness.nnapi.errors import require
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.result_codes import DurationCode, ResultCode, status_of_result
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

_NO_DESCRIPTOR = -1


def launch_fenced(
    compiled: Compiled,
    request: types.Request,
    wait_for: Sequence[hal.Fence | None],
    terms: Terms,
    duration_ns: int,
    keeps: object,
) -> hal.FencedExecutionResult:
    """Start an execution that waits for fences. keeps: what has to live as long as it. Raises CallError."""
    runtime = compiled.runtime
    execution = ApiExecution(compiled, request, terms)
    events: list[int] = []
    try:
        events.extend(_event_of(compiled, fence) for fence in wait_for)
        duration = 0 if duration_ns in NO_TIMES else max(duration_ns, 1)
        started = runtime.execution_start_compute_with_dependencies(
            execution.handle, tuple(events), len(events), duration, True
        )
        require("execution_start_compute_with_dependencies", started.result)
    except BaseException:
        execution.free()
        raise
    finally:
        for event in events:
            runtime.event_free(event)
    answer = runtime.event_get_sync_fence_fd(started.handle, True)
    return hal.FencedExecutionResult(_Info(compiled, execution, started.handle, terms, keeps), answer.fence)


def _event_of(compiled: Compiled, fence: hal.Fence | None) -> int:
    if fence is None:
        return NULL
    made = compiled.runtime.event_create_from_sync_fence_fd(fence, _NO_DESCRIPTOR, True)
    require("event_create_from_sync_fence_fd", made.result)
    return made.handle


class _Info(hal.FencedExecutionCallback):
    """Tells how the execution ended; it lives, with all that belongs to it, as long as somebody may ask."""

    def __init__(self, compiled: Compiled, execution: ApiExecution, event: int, terms: Terms, keeps: object) -> None:
        self._compiled = compiled
        self._execution = execution
        self._event = event
        self._terms = terms
        self._keeps = keeps
        weakref.finalize(self, compiled.at_end, functools.partial(_end, compiled, execution, event))

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        """Wait for the event, and ask for the durations."""
        code = self._compiled.runtime.event_wait(self._event)
        if code != ResultCode.NO_ERROR or not self._terms.measure:
            none = no_timing(self._compiled.version)
            return hal.FencedExecutionInfo(status_of_result(code), none, none)
        return hal.FencedExecutionInfo(
            ErrorStatus.NONE,
            self._execution.timing(DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER),
            self._execution.timing(DurationCode.FENCED_ON_HARDWARE, DurationCode.FENCED_IN_DRIVER),
        )


def _end(compiled: Compiled, execution: ApiExecution, event: int) -> None:
    compiled.runtime.event_free(event)
    execution.free()
