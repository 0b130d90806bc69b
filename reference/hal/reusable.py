"""hal.Execution of the reference: a request bound to a prepared model, executed as often as the client likes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from npu_conformance.reference.extensions import hints
from npu_conformance.reference.hal import fenced
from npu_conformance.reference.hal.execution import Execution, Prepared, Terms
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState


class ReferenceExecution(hal.Execution):
    """A reusable execution. Inputs are read at each run: their memory is the client's to change in between."""

    def __init__(self, prepared: Prepared, request: types.Request, config: types.ExecutionConfig) -> None:
        """Check the request. Raises ServiceError(INVALID_ARGUMENT) already here (NNHAL-EXECUTE-015).

        Hints are ignored or followed for all runs together (NNHAL-EXECUTE-013).
        """
        self._prepared, self._request, self._config = prepared, request, config
        self._is_running = threading.Lock()
        self._fence: hal.Fence | None = None
        self._launch(prepared.version.unavailable_time)
        hints.take("execution", config.execution_hints, config.extension_name_to_prefix)

    def execute_synchronously(self, deadline_ns: int) -> types.ExecutionResult:
        """Run once more."""
        with self._alone():
            return self._launch(deadline_ns).run()

    def execute_fenced(
        self, wait_for: tuple[hal.Fence | None, ...], deadline_ns: int, duration_ns: int
    ) -> hal.FencedExecutionResult:
        """Launch a run that the fences hold back; it goes on until its own fence is settled."""
        with self._alone():
            result = fenced.launch(self._prepared, self._launch(deadline_ns, is_fenced=True), wait_for, duration_ns)
            self._fence = result.sync_fence
            return result

    def _launch(self, deadline_ns: int, *, is_fenced: bool = False) -> Execution:
        terms = Terms(self._config.measure_timing, deadline_ns, self._config.loop_timeout_duration_ns)
        return Execution(self._prepared, self._request, terms, fenced=is_fenced)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Reject a run while another one of this object goes on (NNHAL-EXECUTE-016)."""
        if not self._is_running.acquire(blocking=False):
            raise _in_flight()
        try:
            if self._fence is not None and self._fence.get_state() == FenceState.UNSIGNALLED:
                raise _in_flight()
            yield
        finally:
            self._is_running.release()


def _in_flight() -> ServiceError:
    return ServiceError(ErrorStatus.GENERAL_FAILURE, "an execution of this object is in flight")
