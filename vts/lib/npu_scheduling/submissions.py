"""Runs under configs: who may work, with which priorities, and what an event may say of a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from npu_conformance.harness.judge import checks
from npu_conformance.specs.npu.types import MAX_PRIORITY, SchedulingConfig, Uuid, WorkInfo
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling.events import Event
from npu_conformance.vts.lib.npu_scheduling.fixture import config

_LONGEST = 20
"""Of a feature, in letters."""
_UNTIL_ITS_END = ", and what counts is its priority until its end, not when that is told"


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
        """The priority of the uid, or of whom it works for, plus the job's (NPU-HAL-007, -008, -014)."""
        uids = {uid, uid if run.original_uid == OWN_WORK else run.original_uid}
        return frozenset(self.of(one).priority + run.job_priority for one in uids)


class Difference(NamedTuple):
    """A field in which an event says of work what was not submitted. requirement: by which it is wrong."""

    requirement: str
    field: str
    expected: str
    found: str


def differences(
    work: WorkInfo, run: InferenceRun, uid: int, pid: int, priorities: Collection[int]
) -> tuple[Difference, ...]:
    """What an event must not say of a run (NPU-HAL-008, -013 to -015, -032 to -034, -040).

    uid, pid: of the process that submitted it. priorities: those that it may have had.
    """
    originals = (uid, OWN_WORK) if run.original_uid in (OWN_WORK, uid) else (run.original_uid,)
    devices = (work.device_number,) if run.device_number is None else (run.device_number,)
    groups = (work.group_id,) if run.group_id is None else (run.group_id,)
    allowed: tuple[tuple[str, str, Collection[object], object], ...] = (
        ("NPU-HAL-015", "uid", (uid,), work.uid),
        ("NPU-HAL-013", "original uid", originals, work.original_uid),
        ("NPU-HAL-034", "job priority", (run.job_priority,), work.job_priority),
        ("NPU-HAL-008", "effective priority", sorted(priorities), work.effective_priority),
        ("NPU-HAL-032", "device", devices, work.device_number),
        ("NPU-HAL-040", "pid", (pid, 0), work.debug_pid),
        ("NPU-HAL-040", "feature", (run.feature_id, None), work.debug_feature_id),
        ("NPU-HAL-033", "group", groups, work.group_id),
    )
    return tuple(
        Difference(requirement, field, " or ".join(dict.fromkeys(map(spelled, values))), spelled(found))
        for requirement, field, values, found in allowed
        if found not in values
    )


def check_told(event: Event, wrong: Sequence[Difference], run: InferenceRun) -> None:
    """Fail by the first difference between an event and the run that it is about."""
    for first in wrong[:1]:
        with checks.about(first.requirement):
            what = f"{first.field} in the event {event.event_type} of uid {event.work.uid}"
            until = _UNTIL_ITS_END if first.requirement == "NPU-HAL-008" and event.event_type == "ended" else ""
            checks.fail(what, first.expected, f"{first.found}; submitted was {told(run)}{until}")


def told(run: InferenceRun) -> str:
    """A run as messages tell it: what was submitted with it, and nothing that was not."""
    given = (
        ("job priority", run.job_priority),
        ("original uid", None if run.original_uid == OWN_WORK else run.original_uid),
        ("device", run.device_number),
        ("feature", run.feature_id),
        ("group", run.group_id),
    )
    return f"work of {', '.join(f'{name} {spelled(value)}' for name, value in given if value is not None)}"


def spelled(value: object) -> str:
    """A value of work as messages show it: a group by its digits, a long feature by its beginning."""
    if isinstance(value, Uuid):
        return value.uuid.hex()
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}... ({len(value)} characters)"
    return "none" if value is None else repr(value)
