"""What has to be notified of works that were done one after the other, and what each event may say."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import REQUESTED, STARTED, Notification


@dataclass
class Work:
    """A run that has ended. effective: the priorities that it may have had."""

    app: App
    pid: int
    run: InferenceRun
    effective: frozenset[int]
    reason: int
    started_ms: int
    ended_ms: int


@dataclass
class Burst:
    """Works of a uid between which no debounce time has passed. durations: those that may be in force for its end."""

    works: list[Work]
    durations: list[int]
    is_over: bool = False

    def due(self) -> list[Notification]:
        """What has to have been notified of it."""
        end = [Notification("ended", self.works[-1].reason)] if self.is_over else []
        return [REQUESTED, STARTED, *end]
