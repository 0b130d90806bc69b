"""Fenced execution: work that starts when its wait fences have signalled, and signals a fence of its own at its end."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.execution import Execution, Prepared
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence, merged


def launch(
    prepared: Prepared, execution: Execution, wait_for: Sequence[hal.Fence | None], duration_ns: int
) -> hal.FencedExecutionResult:
    """Launch an execution, made with `fenced=True`, that runs in a thread once all fences have signalled.

    duration_ns: in the form of the version, counts from the last signal. Order of errors, as in AOSP's sample driver:
    deadline, then fences; raises ServiceError. No thread waits meanwhile: fences which never signal cost nothing.
    """
    timing.check_deadline_form(prepared.version, duration_ns)
    execution.check_deadline()
    fences = _checked(wait_for)
    run = _FencedRun(prepared, execution, duration_ns)
    merged(fences).watch(run.begin)
    return hal.FencedExecutionResult(run, run.fence)


def _checked(wait_for: Sequence[hal.Fence | None]) -> list[hal.Fence]:
    """The fences. Raises INVALID_ARGUMENT for a fence that is null or already in error (NNHAL-FENCED-003, -004)."""
    fences = [fence for fence in wait_for if fence is not None]
    if len(fences) < len(wait_for):
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a wait fence is null")
    if any(fence.get_state() == FenceState.ERROR for fence in fences):
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a wait fence is in error")
    return fences


class _FencedRun(hal.FencedExecutionCallback):
    """One fenced execution. fence: settled at its end, when nothing of the request is touched any more."""

    def __init__(self, prepared: Prepared, execution: Execution, duration_ns: int) -> None:
        self._prepared, self._execution, self._duration_ns = prepared, execution, duration_ns
        self._unfinished = self._info = self._failure(ErrorStatus.GENERAL_FAILURE)
        self.fence = SettableFence()

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        """Return the result and times; the status is GENERAL_FAILURE until the fence is settled (NNHAL-FENCED-013)."""
        return self._unfinished if self.fence.get_state() == FenceState.UNSIGNALLED else self._info

    def begin(self, state: int) -> None:
        """Receive how the wait fences ended; if one failed, so does the execution, at once (FENCED-010)."""
        if state == FenceState.SIGNALLED:
            threading.Thread(target=self._run, name="fenced execution", daemon=True).start()
        else:
            self._execution.abandon()
            self.fence.fail()

    def _run(self) -> None:
        try:
            self._info = self._executed()
            self.fence.signal()
        except ServiceError as error:
            message = str(error)
            vlog.log("execution", lambda: f"fenced execution: {message}")
            self._info = self._failure(error.status)
        finally:
            self.fence.fail()  # without effect where it has signalled

    def _executed(self) -> hal.FencedExecutionInfo:
        """Run. Both times in the driver end here: one from the call on, one from the last signal (FENCED-014)."""
        waited = self._execution.age_ns()
        self._execution.limit(self._duration_ns)
        result = self._execution.run()
        if not result.output_sufficient_size:
            raise ServiceError(
                ErrorStatus.GENERAL_FAILURE, "an output does not fit"
            )  # not the other status: FENCED-017
        age, version = self._execution.age_ns(), self._prepared.version
        launched, fenced = (timing.driver_time(version, result.timing, since) for since in (age, age - waited))
        return hal.FencedExecutionInfo(ErrorStatus.NONE, launched, fenced)

    def _failure(self, status: int) -> hal.FencedExecutionInfo:
        unavailable: types.Timing = timing.unavailable_timing(self._prepared.version)
        return hal.FencedExecutionInfo(status, unavailable, unavailable)
