"""Runs of inferences, and whether a HAL has room for one of them beside others."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.errors import IllegalArgument, InterfaceError, SecurityDenied
from npu_conformance.specs.npu.workload import WorkloadCallback

INTO_WORK_MS = 103
"""How far into one work another comes, or something changes: behind its start, and far from its end."""
REJECTIONS = (SecurityDenied, IllegalArgument)
"""How a HAL rejects a run for what it is, and not for what is under way."""


class Run(WorkloadCallback):
    """A run by the Workload interface. succeeded: None while it goes on. refusal: what it was rejected with."""

    succeeded: bool | None = None
    refusal: InterfaceError | None = None

    @property
    def ending(self) -> str:
        """How it ended, for failures."""
        if self.refusal is not None:
            return f"a rejection: {checks.format_error(self.refusal)}"
        return {None: "no end yet", True: "success", False: "onRunEnded(false)"}[self.succeeded]

    @property
    def is_refused_for_others(self) -> bool:
        """True where it was rejected, and not for what it is."""
        return self.refusal is not None and not isinstance(self.refusal, REJECTIONS)

    def on_run_ended(self, succeeded: bool) -> None:
        """Keep how it ended."""
        self.succeeded = succeeded


class NoRoomBesideOthers(NotApplicable):
    """A HAL has no room for one more work at once: for how many it has is free, and for those of how many apps."""


class Room:
    """How soon the runs of a case ended that began beside others: one that was refused for want of room ends at once.

    The moments are those of the virtual clock; where time passes by itself, all are the same.
    """

    def __init__(self) -> None:
        self._begun_ms: dict[Run | ToolRun, int] = {}
        """When each run began that may still turn out to be refused."""
        self._ended_ms: int | None = None
        """When the case last ended what was under way."""

    def note_start(self, run: Run | ToolRun, now_ms: int | None) -> None:
        """A run began beside others. now_ms: None where time passes by itself.

        In a moment in which the case has ended some, nobody knows what a run without success has met.
        """
        if now_ms is None or now_ms != self._ended_ms:
            self._begun_ms[run] = now_ms or 0

    def note_ends(self, now_ms: int | None) -> None:
        """The case is about to end what is under way. NotApplicable where some of that had no room."""
        self.need()
        self._begun_ms.clear()
        self._ended_ms = now_ms

    def note_time(self, now_ms: int) -> None:
        """Time has passed: what goes on for longer than a refused run had its room."""
        for run, begun_ms in list(self._begun_ms.items()):
            if begun_ms < now_ms - INTO_WORK_MS and run.succeeded is None:
                del self._begun_ms[run]

    def need(self) -> None:
        """NotApplicable where a run was refused for want of room."""
        for run in self._begun_ms:
            self.need_for(run)

    def need_for(self, run: Run | ToolRun) -> None:
        """NotApplicable where a run that nobody ended had no success, soon after it was to begin beside others.

        A refusal for want of rights, named as such, is none for want of room.
        """
        if run not in self._begun_ms or run.succeeded is not False:
            return
        if isinstance(run, ToolRun) or not isinstance(run.refusal, SecurityDenied):
            raise NoRoomBesideOthers(f"the HAL has no room for one more work at once: {run.ending}")
