"""The reference's test inferences, and the control by which a test steers them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.reference.clock import Timers, VirtualClock
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_receiver import Courier
from npu_conformance.specs.errors import IllegalState, SecurityDenied
from npu_conformance.specs.npu.types import EndReason, Uuid
from npu_conformance.specs.npu.workload import InferenceRun, SchedulingControl, Workload, WorkloadCallback
from npu_conformance.specs.plugin import Caller, Context

INFERENCES = 10
"""How many inferences one run has: one after the other, they take 400 ms in all unless stronger work delays them."""


DEVICES = 2


def create(context: Context, clock: Timers) -> tuple[SchedulingService, TestInferences, Control]:
    """Make a HAL whose callbacks are in other processes, its test inferences, and the control of both."""
    service = SchedulingService(clock, DEVICES, Courier)
    return service, TestInferences(service, context.caller), Control(service)


class TestInferences(Workload):
    """The workload. The inferences of a run share a group id (NPU-HAL-033)."""

    __test__ = False

    def __init__(self, service: SchedulingService, caller: Callable[[], Caller], inferences: int = INFERENCES) -> None:
        self._service = service
        self._caller = caller
        self._inferences = inferences
        self._efforts = itertools.count(1)

    def run_test_inference(self, run: InferenceRun, callback: WorkloadCallback) -> None:
        """Submit the first inference. Raises IllegalArgument and SecurityDenied as SchedulingService.submit does."""
        group = run.group_id or Uuid(next(self._efforts).to_bytes(16, "big"))
        _Effort(self._service, self._caller(), replace(run, group_id=group), callback, self._inferences).submit()

    def cancel_test_inferences(self) -> None:
        """End everything that the caller has submitted."""
        self._service.end_work(self._caller().uid, EndReason.CANCELLED_USER)


class _Effort:
    """One run: each inference is submitted when the one before it is complete."""

    def __init__(
        self,
        service: SchedulingService,
        caller: Caller,
        run: InferenceRun,
        callback: WorkloadCallback,
        inferences: int,
    ) -> None:
        self._service = service
        self._caller = caller
        self._run = run
        self._callback = callback
        self._left = inferences
        self._results = service.receiver()

    def submit(self) -> None:
        """Submit an inference."""
        self._left -= 1
        self._service.submit(self._caller, self._run, self._ended)

    def _ended(self, reason: EndReason) -> None:
        if reason is not EndReason.COMPLETED or not self._left:
            self._tell(reason is EndReason.COMPLETED)
            return
        try:
            self.submit()
        except SecurityDenied:  # the right to work was withdrawn during the run
            self._tell(False)

    def _tell(self, succeeded: bool) -> None:
        self._results.send(lambda: self._callback.on_run_ended(succeeded))


class Control(SchedulingControl):
    """Moves the clock, and ends work as no app can."""

    def __init__(self, service: SchedulingService) -> None:
        self._service = service

    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock, and wait until events have arrived.

        Raises IllegalArgument for a negative duration, IllegalState where time is real.
        """
        if not isinstance(self._service.clock, VirtualClock):
            raise IllegalState("the clock is a real one")
        self._service.clock.advance(duration_ns)
        self._service.settle()

    def cancel_work(self, uid: int) -> None:
        """End everything that a uid has submitted, as a system policy would."""
        self._service.end_work(uid, EndReason.CANCELLED_SYSTEM)

    def fail_work(self, uid: int) -> None:
        """End everything that a uid has submitted, as broken hardware would."""
        self._service.end_work(uid, EndReason.FAILED)
