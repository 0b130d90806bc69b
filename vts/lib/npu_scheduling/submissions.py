"""Runs under configs: who may work, with which priorities, and what an event may say of a run."""

from __future__ import annotations

from collections.abc import Collection

from npu_conformance.specs.npu.types import MAX_PRIORITY, SchedulingConfig, WorkInfo
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling.fixture import config


class Configs(dict[int, SchedulingConfig]):
    """The configs in force, by uid. A uid without one works for itself, and after all others."""

    def of(self, uid: int) -> SchedulingConfig:
        """The config of a uid."""
        return self.get(uid, config(uid, MAX_PRIORITY))

    def may_work(self, uid: int, original: int) -> bool:
        """True where a uid may work, for itself or for another uid (NPU-HAL-011, -012)."""
        rights = self.of(uid)
        return rights.has_direct_access and (original in (OWN_WORK, uid) or rights.can_attribute_other_uid)

    def priorities(self, uid: int, run: InferenceRun) -> frozenset[int]:
        """The priority of the uid, or of whom it works for, if that one has a config, plus the job's.

        Who has no config counts for no work of others (NPU-HAL-008, -014).
        """
        uids = {uid} | ({run.original_uid} & self.keys())
        return frozenset(self.of(one).priority + run.job_priority for one in uids)


def may_describe(work: WorkInfo, run: InferenceRun, uid: int, pid: int, priorities: Collection[int]) -> bool:
    """True where an event may say this of a run (NPU-HAL-008, -013 to -015, -032 to -034, -040).

    uid, pid: of the process that submitted it. priorities: those that it may have had.
    """
    own = run.original_uid in (OWN_WORK, uid)
    return (
        work.uid == uid
        and work.original_uid in ((uid, OWN_WORK) if own else (run.original_uid,))
        and work.job_priority == run.job_priority
        and work.effective_priority in priorities
        and run.device_number in (None, work.device_number)
        and work.debug_pid in (0, pid)
        and work.debug_feature_id in (None, run.feature_id)
        and (run.group_id is None or work.group_id == run.group_id)
    )
