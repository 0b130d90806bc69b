"""What the judge of scheduling knows of the work that apps submit: what it may become, and what events of it say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.specs.npu.types import MAX_PRIORITY, MIN_PRIORITY, EndReason, SchedulingConfig, WorkInfo
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun

TICK_MS = 1
"""Two moments that are so far apart may be one: timestamps are whole milliseconds."""
ANY_END = frozenset(reason for reason in EndReason if reason is not EndReason.PAUSED)
PRIORITIES = range(MIN_PRIORITY, MAX_PRIORITY + 1)


@dataclass(eq=False)
class Work:
    """One run of an app, which the app knows by its answers: whether it succeeded.

    wrong: the requirements that make it one to be refused. is_open: the contract leaves open whether it is refused.
    may_lack_room: others were under way when it began, beside which there need be no room.
    priorities: of the uids that it may count as, since it began. reasons: that its end may have.
    ended: the earliest and the latest moment of its end. is_refused: at the call. is_orphan: nobody hears of its end.
    """

    uid: int
    pid: int
    run: InferenceRun
    begun_ms: int
    wrong: tuple[str, ...] = ()
    is_open: bool = False
    may_lack_room: bool = False
    priorities: set[int] = field(default_factory=set)
    reasons: frozenset[int] = frozenset((EndReason.COMPLETED,))
    answers: list[bool] = field(default_factory=list)
    ended: tuple[int, int] | None = None
    is_refused: bool = False
    is_orphan: bool = False

    @property
    def is_unfinished(self) -> bool:
        """True where its end is not known."""
        return not self.is_refused and self.ended is None

    @property
    def may_be_told(self) -> bool:
        """True where events may tell of it: what is refused never was work."""
        return not self.is_refused and not self.wrong

    @property
    def owners(self) -> frozenset[int]:
        """The uids whose config may decide its priority (NPU-HAL-014 is no duty)."""
        return frozenset((self.uid, self.uid if self.run.original_uid < 0 else self.run.original_uid))

    def may_last_at(self, moment_ms: int) -> bool:
        """True where it may be going on at a moment."""
        latest = moment_ms if self.ended is None else self.ended[1]
        return self.begun_ms - TICK_MS <= moment_ms <= latest + TICK_MS

    def lasts_at(self, moment_ms: int) -> bool:
        """True where it goes on at a moment for certain."""
        if not self.may_be_told or self.is_open or self.is_orphan:
            return False
        return self.begun_ms + TICK_MS < moment_ms and (self.ended is None or moment_ms < self.ended[0] - TICK_MS)

    def may_end_at(self, moment_ms: int) -> bool:
        """True where it may end at a moment."""
        if self.ended is None:
            return self.is_orphan
        return self.ended[0] - TICK_MS <= moment_ms <= self.ended[1] + TICK_MS

    def end_early(self, reason: int, *, surely: bool = True) -> None:
        """Somebody ends it. surely: it is this work that is meant. What was disturbed before may have ended then."""
        was_undisturbed = self.reasons == {EndReason.COMPLETED}
        self.reasons = frozenset((reason,)) if surely and was_undisturbed else self.reasons | {reason}

    def lose(self) -> None:
        """Accept any end of this work from here on."""
        self.reasons = ANY_END


def refusals(run: InferenceRun, config: SchedulingConfig, devices: int) -> tuple[str, ...]:
    """The requirements by which a run of the config's uid has to be refused."""
    wrong = []
    if not config.has_direct_access:
        wrong.append("NPU-HAL-011")
    if run.original_uid not in (OWN_WORK, config.uid) and not config.can_attribute_other_uid:
        wrong.append("NPU-HAL-012")
    if run.device_number is not None and run.device_number not in range(devices):
        wrong.append("NPU-HAL-032")
    return tuple(wrong)


def is_open(run: InferenceRun) -> bool:
    """True where a HAL may refuse or take a run: what is out of range may be brought inside (NPU-HAL-034)."""
    return run.job_priority not in PRIORITIES or run.original_uid < OWN_WORK


def described(info: WorkInfo, works: Sequence[Work], own: frozenset[int], devices: int) -> None:
    """See that an event tells of one of these works in all its fields (NPU-HAL-039). own: what own work may name."""
    rules: tuple[tuple[str, str, Callable[[Work], bool]], ...] = (
        ("NPU-HAL-034", f"job priority {info.job_priority}", lambda work: _is_job(info, work)),
        ("NPU-HAL-013", f"original uid {info.original_uid}", lambda work: _is_original(info, work, own)),
        ("NPU-HAL-008", f"effective priority {info.effective_priority}", lambda work: _is_effective(info, work)),
        ("NPU-HAL-032", f"device {info.device_number}", lambda work: _is_device(info, work, devices)),
        ("NPU-HAL-033", f"group {info.group_id}", lambda work: _is_group(info, work)),
        ("NPU-HAL-040", f"feature {info.debug_feature_id!r}, pid {info.debug_pid}", lambda work: _is_debug(info, work)),
    )
    left: Iterable[Work] = works
    for requirement, what, holds in rules:
        left = [work for work in left if holds(work)]
        if not left:
            raise Found(
                "wrong-status", f"{requirement}: event of uid {info.uid} with {what}: no such work", requirement
            )


def _is_job(info: WorkInfo, work: Work) -> bool:
    job = work.run.job_priority
    return info.job_priority == job if job in PRIORITIES else info.job_priority in PRIORITIES


def _is_original(info: WorkInfo, work: Work, own: frozenset[int]) -> bool:
    original = work.run.original_uid
    if original in (OWN_WORK, work.uid):
        return info.original_uid in own | {work.uid}
    return original < 0 or info.original_uid == original


def _is_effective(info: WorkInfo, work: Work) -> bool:
    return info.effective_priority - info.job_priority in work.priorities


def _is_device(info: WorkInfo, work: Work, devices: int) -> bool:
    asked = work.run.device_number
    return info.device_number == asked if asked is not None else info.device_number in range(devices)


def _is_group(info: WorkInfo, work: Work) -> bool:
    if work.run.group_id is not None:
        return info.group_id == work.run.group_id
    return info.group_id is None or len(info.group_id.uuid) == 16


def _is_debug(info: WorkInfo, work: Work) -> bool:
    return info.debug_feature_id in (None, work.run.feature_id) and info.debug_pid in (0, work.pid)
