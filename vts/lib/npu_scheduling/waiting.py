"""Runs of inferences and the time in which they end, which passes by itself or is moved."""

from __future__ import annotations

import time
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.npu.manager import ManagerControl
from npu_conformance.specs.npu.workload import SchedulingControl
from npu_conformance.vts.lib.npu_scheduling.events import Recorder
from npu_conformance.vts.lib.npu_scheduling.runs import Room, Run

STEP_MS = 10
"""How often to look whether something holds."""
_RUN_SECONDS = 30.0
"""After which a run counts as never ending, before time_scale."""
_LATE_SECONDS = 2.0
"""How long a device that is busy otherwise may take to notify an end, before time_scale."""
_LOOK_SECONDS = 0.005
"""How often to look whether an inference tool has ended, as nothing arrives where it failed at once."""
_NEARLY_OVER_SECONDS = 0.1
"""A run that was ended early in it would go on for longer than that."""
_NS_PER_MS = 1_000_000


class Waiting:
    """What a case waits for: the ends of runs and their events. endless: the runs that were waited for in vain.

    device: where work goes that names no device; None for wherever the HAL likes.
    """

    def __init__(self, context: CaseContext, device: int | None = None) -> None:
        self.context, self.device = context, device
        self.recorder = Recorder()
        self.runs: list[Run | ToolRun] = []
        self.endless: list[Run | ToolRun] = []
        self.room = Room()
        self.has_work_for_others = False
        """Whether an app has worked for another one, by a right that configs may withdraw."""
        self.clock = _clock(context)
        """The clock that is moved; None where time passes by itself."""
        self.passed_ms = 0
        """How far this case has moved the virtual clock."""

    @property
    def is_busy(self) -> bool:
        """True where a run is under way."""
        return any(run.succeeded is None for run in self.runs)

    @property
    def now_ms(self) -> int | None:
        """The moment on the virtual clock; None where time passes by itself."""
        return None if self.clock is None else self.passed_ms

    def need_real_time(self) -> None:
        """NotApplicable where time stands still until it is moved, and everything is judged to the millisecond."""
        if self.clock is not None:
            raise NotApplicable("with a virtual clock events have no time of arrival")

    def need_virtual_clock(self) -> None:
        """NotApplicable where time passes by itself."""
        if self.clock is None:
            raise NotApplicable("without a virtual clock nothing happens at a known time")

    def promised_ms(self) -> int:
        """Within what time weaker work is interrupted, by the manifest. NotApplicable where it promises nothing."""
        self.need_virtual_clock()
        found = self.context.manifest.npu_checkpoint_ms
        if found is None:
            raise NotApplicable("the manifest promises no npu_checkpoint_ms")
        return found

    @property
    def is_in_real_time(self) -> bool:
        """True where time passes by itself, and a run may begin later than it is asked to."""
        return self.clock is None

    def pass_ms(self, duration_ms: int) -> None:
        """Let time pass, and what happens in it arrive."""
        if self.clock is None:
            seconds = duration_ms / 1000 * self.context.manifest.time_scale
            self.context.subject.wait_until(lambda: False, seconds)
            return
        self.clock.advance_clock(duration_ms * _NS_PER_MS)
        self.passed_ms += duration_ms
        self.context.subject.wait_until(lambda: False, 0.0)
        self.room.note_time(self.passed_ms)

    def wait(self, holds: Callable[[], bool], what: str, step_ms: int = STEP_MS) -> None:
        """Let time pass until something holds. Failed where it never does."""
        seconds = _RUN_SECONDS * self.context.manifest.time_scale
        if self.clock is not None:
            for _ in range(int(seconds * 1000 / step_ms)):
                if holds():
                    return
                self.pass_ms(step_ms)
            seconds = 1.0
        self._serve_until(lambda: holds() or self._are_over(), seconds)
        if not holds():
            self.wait_late(holds)  # where all runs are over, nothing but what is on its way can come
        if not holds():
            self.room.need()
            checks.fail(what, f"within {_RUN_SECONDS} s", "nothing")

    def _are_over(self) -> bool:
        return bool(self.runs) and all(run.succeeded is not None for run in self.runs)

    def _serve_until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Handle what arrives until something holds or the time is over; look at the tools that run meanwhile."""
        if not any(isinstance(run, ToolRun) for run in self.runs):
            self.context.subject.wait_until(holds, seconds)
            return
        deadline = time.monotonic() + seconds
        while not holds() and time.monotonic() < deadline:
            if not self.context.subject.serve_pending():
                time.sleep(_LOOK_SECONDS)

    def end_of(self, run: Run | ToolRun, step_ms: int = STEP_MS) -> bool:
        """Wait for the end of a run: whether it succeeded."""
        try:
            self.wait(lambda: run.succeeded is not None, "end of the inferences", step_ms)
        except Failed:
            self.endless.append(run)
            raise
        return bool(run.succeeded)

    def succeeds(self, run: Run | ToolRun, what: str, step_ms: int = STEP_MS) -> None:
        """Wait for the end of a run, and see that it is success. NotApplicable where there is no room for it."""
        if not self.end_of(run, step_ms):
            self.room.need_for(run)
            checks.fail(what, "success", run.ending)

    def is_ended(self, run: Run | ToolRun) -> None:
        """See that a run which somebody has just ended, early in it, has no success.

        NotApplicable where time passes by itself, and the run was about to end anyway: events may be late.
        """
        since = time.monotonic()
        if not self.end_of(run):
            return
        if self.clock is None and time.monotonic() - since < _NEARLY_OVER_SECONDS * self.context.manifest.time_scale:
            raise NotApplicable("the run was nearly over when it was to be ended")
        checks.fail("inferences that were ended early", "no success", run.ending)

    def rest(self, duration_ms: int) -> None:
        """In real time, let exactly so much of it pass, however slow the subject is said to be."""
        self.context.subject.wait_until(lambda: False, duration_ms / 1000)

    def wait_late(self, holds: Callable[[], bool]) -> None:
        """In real time, wait until something holds, for as long as events may be late."""
        if self.clock is None:
            self.context.subject.wait_until(holds, _LATE_SECONDS * self.context.manifest.time_scale)

    def need_running(self, run: Run | ToolRun) -> None:
        """See that a run of several hundred milliseconds is not over yet; where time passes by itself it may be.

        NotApplicable where there is no room for it.
        """
        self.room.need_for(run)
        if self.clock is None and run.succeeded is not None:
            raise NotApplicable("the run was over before the harness could go on")
        if run.succeeded is not None:
            checks.fail("a run of several hundred milliseconds, early in it", "that it goes on", run.ending)


def _clock(context: CaseContext) -> SchedulingControl | ManagerControl | None:
    if not context.manifest.virtual_clock:
        return None
    interfaces = context.subject.interfaces
    return interfaces.scheduling_control or interfaces.manager_control
