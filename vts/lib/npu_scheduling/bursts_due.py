"""What has to be notified of works that were done one after the other, and what each event may say."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.npu.types import WorkInfo
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling.events import REQUESTED, STARTED, Notification
from npu_conformance.vts.lib.npu_scheduling.fixture import App


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

    def is_told_by(self, work: WorkInfo) -> bool:
        """True where an event may say this of the run (NPU-HAL-008, -013 to -015, -032 to -034, -040)."""
        run, uid = self.run, self.app.uid
        own = run.original_uid in (OWN_WORK, uid)
        return (
            work.uid == uid
            and work.original_uid in ((uid, OWN_WORK) if own else (run.original_uid,))
            and work.job_priority == run.job_priority
            and work.effective_priority in self.effective
            and run.device_number in (None, work.device_number)
            and work.debug_pid in (0, self.pid)
            and work.debug_feature_id in (None, run.feature_id)
            and (run.group_id is None or work.group_id == run.group_id)
        )


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
