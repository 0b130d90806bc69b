"""What holds of a scheduling HAL in every history: a judge of its answers, of the ends of work, and of its events.

It predicts no order of work, which is free. It keeps what each app submitted and which configs were in force, and names
the requirement that an answer or an event breaks.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.scheduling_stream import REQUESTED, Event, Stream, bursts, is_final
from npu_conformance.fuzz.lib.scheduling_work import (
    PRIORITIES,
    TICK_MS,
    Work,
    described,
    is_open,
    refusals,
)
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, MAX_PRIORITY, EndReason, SchedulingConfig
from npu_conformance.specs.npu.workload import InferenceRun

NOBODY = -1
"""The recorder of a time without callback."""


class SchedulingJudge:
    """One history. devices: how many there are; base_ms: the HAL's clock at the moment 0; own: of own work.

    longest_ms: for so long an end may wait: as long as any callback asked for.
    """

    def __init__(self, devices: int, base_ms: int, debounce_ms: int, own: frozenset[int] = frozenset()) -> None:
        self.now_ms = 0
        self.works: list[Work] = []
        self.streams: dict[int, Stream] = {}
        self._devices, self._base_ms, self._own, self._default_ms = devices, base_ms, own, debounce_ms
        self._configs: dict[int, SchedulingConfig] = {}
        self.recorder, self._debounce_ms, self._since_ms = NOBODY, debounce_ms, 0
        self.longest_ms = debounce_ms
        self._ids: dict[int, int] = {}
        self._owners: dict[int, tuple[int, int]] = {}
        self._bursts: dict[int, int] = {}

    def config(self, uid: int) -> SchedulingConfig:
        """What is in force for a uid (NPU-HAL-007)."""
        return self._configs.get(uid, SchedulingConfig(uid, MAX_PRIORITY, True, False))

    def configured(self, configs: Sequence[SchedulingConfig], *, update: bool) -> None:
        """Configs were taken; work that they leave without its rights may end now or go on."""
        known = self._configs if update else {}
        self._configs = known | {config.uid: config for config in configs}
        for work in self.works:
            work.priorities |= {self.config(uid).priority for uid in work.owners}
            if work.is_unfinished and refusals(work.run, self.config(work.uid), self._devices):
                work.lose()

    def submitted(self, uid: int, pid: int, run: InferenceRun) -> Work:
        """An app begins a run. For how many works there is room at once is free."""
        wrong = refusals(run, self.config(uid), self._devices)
        is_beside_others = any(one.is_unfinished for one in self.works)
        work = Work(uid, pid, run, self.now_ms, wrong, is_open(run), is_beside_others)
        work.priorities = {self.config(owner).priority for owner in work.owners}
        self.works.append(work)
        return work

    def answered(self, work: Work, *, succeeded: bool, since_ms: int) -> None:
        """A run has ended, after since_ms at the earliest."""
        work.answers.append(succeeded)
        if work.is_refused or len(work.answers) > 1:
            what = f"a run of uid {work.uid} ends {len(work.answers)} times, refused at the call: {work.is_refused}"
            raise Found("wrong-status", what, "a run ends twice")
        work.ended = (max(since_ms, work.begun_ms), self.now_ms)
        if succeeded and work.wrong:
            raise Found("invalid-accepted", f"{work.wrong[0]}: a run of uid {work.uid} succeeds", work.wrong[0])
        if succeeded and EndReason.COMPLETED not in work.reasons:
            raise Found("wrong-status", f"NPU-HAL-030: a run of uid {work.uid} succeeds though it was ended", "success")
        if not succeeded and not work.wrong and not work.is_open:
            self._judge_failure(work)

    def ended(self, uid: int, pid: int | None, reason: EndReason) -> None:
        """The work of a uid is ended, by itself or by another. pid: of its process alone."""
        for work in self.works:
            if work.is_unfinished and uid in (work.uid, work.run.original_uid):
                if work.uid == uid:
                    work.end_early(reason, surely=pid is None or pid == work.pid)
                elif pid is None:
                    work.end_early(reason, surely=False)

    def died(self, uid: int, pid: int) -> None:
        """A process has died: its work may go on or not."""
        for work in self.works:
            if work.is_unfinished and (work.uid, work.pid) == (uid, pid):
                work.is_orphan = True
                work.lose()

    def registered(self, recorder: int, debounce_ms: int | None) -> None:
        """Another callback is registered, or the same again, or none."""
        self._judge_bursts()
        asked = self._default_ms if debounce_ms is None else debounce_ms
        self.longest_ms = max(self.longest_ms, asked)
        self.streams = {uid: Stream(self._is_busy(uid)) for uid in {work.uid for work in self.works}}
        self.recorder, self._debounce_ms, self._since_ms = recorder, asked, self.now_ms

    def lost(self, recorder: int) -> None:
        """The process of a recorder has died."""
        if recorder == self.recorder:
            self.registered(NOBODY, None)

    def hear(self, event: Event) -> None:
        """An event has arrived."""
        if event.recorder != self.recorder:
            what = f"NPU-HAL-017: {event} arrives at callback {event.recorder}, which is not registered any more"
            raise Found("wrong-status", what, "NPU-HAL-017")
        moment = event.work.timestamp_ms - self._base_ms
        stream = self.streams.setdefault(event.work.uid, Stream())
        self._judge_work(event, moment)
        own = (work for work in self.works if work.uid == event.work.uid)
        is_disturbed = any(work.reasons != {EndReason.COMPLETED} for work in own)
        stream.take(event, moment, self._debounce_ms, is_disturbed=is_disturbed)
        self._judge_id(event, stream)
        if stream.is_midway or self._debounce_ms < DEBOUNCE_DURATION_MS:
            return
        if event.notification == REQUESTED:
            self._judge_request(event, moment)
        elif is_final(event.notification):
            self._judge_end(event, moment)

    def close(self) -> None:
        """Everything has ended, and had time to be told."""
        for work in self.works:
            if work.is_unfinished and not work.is_orphan:
                raise Found("wrong-status", f"a run of uid {work.uid} never ends", "a run never ends")
        for uid, stream in self.streams.items():
            if stream.last is not None and not is_final(stream.last):
                what = f"NPU-HAL-019: the last event of uid {uid} is {stream.last}, though its work is over"
                raise Found("wrong-status", what, "NPU-HAL-019 an end is missing")
        self._judge_bursts()

    def _judge_failure(self, work: Work) -> None:
        """A run fails that is not to be refused: somebody ended it, or at once there was no room for it.

        What there was no room for may never have been work.
        """
        is_undisturbed = work.reasons == {EndReason.COMPLETED}
        if is_undisturbed and not work.may_lack_room:
            raise Found("valid-refused", f"a run of uid {work.uid} fails though nothing disturbs it", "a run fails")
        work.is_open = work.may_lack_room and (is_undisturbed or work.may_end_at(work.begun_ms))

    def _is_busy(self, uid: int) -> bool:
        """True where there may be work, or an end that waits."""
        own = [work for work in self.works if work.uid == uid and work.may_be_told]
        return any(work.ended is None or self.now_ms - work.ended[1] <= self.longest_ms for work in own)

    def _judge_work(self, event: Event, moment: int) -> None:
        """An event tells of work of its uid that there is at its time, and not of the future (NPU-HAL-015, -021)."""
        uid = event.work.uid
        candidates = [work for work in self.works if work.uid == uid and work.may_be_told and work.may_last_at(moment)]
        if not candidates or moment > event.arrived_ms + TICK_MS:
            what = f"NPU-HAL-021: {event} at {moment} ms, arrived at {event.arrived_ms} ms: there is no such work then"
            raise Found("wrong-status", what, "NPU-HAL-021")
        described(event.work, candidates, self._own, self._devices)

    def _judge_id(self, event: Event, stream: Stream) -> None:
        """Ids of a uid never decrease, and no id is of two bursts (NPU-HAL-020)."""
        uid, number = event.work.uid, event.work.id
        if number < self._ids.get(uid, number):
            raise Found("wrong-status", f"NPU-HAL-020: {event} has id {number} after {self._ids[uid]}", "NPU-HAL-020")
        self._ids[uid] = number
        if event.notification == REQUESTED:
            self._bursts[uid] = self._bursts.get(uid, 0) + 1
        if stream.is_in_step:
            burst = uid, self._bursts[uid]
            if self._owners.setdefault(number, burst) != burst:
                raise Found("wrong-status", f"NPU-HAL-020: {event} has id {number} of another burst", "NPU-HAL-020")

    def _judge_request(self, event: Event, moment: int) -> None:
        """A request is told when it is made, and not while work of the uid goes on (NPU-HAL-022)."""
        own = [work for work in self.works if work.uid == event.work.uid and work.may_be_told]
        if not any(abs(work.begun_ms - moment) <= TICK_MS for work in own):
            raise Found("wrong-status", f"NPU-HAL-021: {event} at {moment} ms: nothing was requested then", "request")
        if any(work.lasts_at(moment) for work in own):
            what = f"NPU-HAL-022: {event} at {moment} ms, while its work goes on"
            raise Found("wrong-status", what, "NPU-HAL-022 during work")

    def _judge_end(self, event: Event, moment: int) -> None:
        """An end is that of the last work, has its reason, and is withheld for the debounce time (NPU-HAL-024)."""
        own = [work for work in self.works if work.uid == event.work.uid and work.may_be_told]
        ends = [work for work in own if work.may_end_at(moment)]
        until = moment + self._debounce_ms - TICK_MS
        goes_on = any(
            work.lasts_at(moment) or (moment + TICK_MS < work.begun_ms < until and not work.is_open) for work in own
        )
        if event.arrived_ms < until or not ends or goes_on:
            what = f"NPU-HAL-024: {event} of {moment} ms, told at {event.arrived_ms} ms, is not the end of its work"
            raise Found("wrong-status", what, "NPU-HAL-024")
        if not any(event.notification[1] in work.reasons for work in ends):
            expected = sorted(int(reason) for work in ends for reason in work.reasons)
            what = f"NPU-HAL-030: {event}: expected a reason of {expected}"
            raise Found("wrong-status", what, "NPU-HAL-030 another reason")

    def _judge_bursts(self) -> None:
        """Each uid without history had one request for each burst since the callback was registered (NPU-HAL-025)."""
        if self.recorder == NOBODY or self._debounce_ms < DEBOUNCE_DURATION_MS:
            return
        for uid in {work.uid for work in self.works}:
            stream = self.streams.get(uid, Stream())
            own = [work for work in self.works if work.uid == uid and work.begun_ms >= self._since_ms]
            told = [work for work in own if work.may_be_told]
            if stream.is_midway or any(work.is_open or work.is_orphan for work in told):
                continue
            expected = bursts(told, self._debounce_ms)
            if expected is not None and expected != stream.requests:
                what = f"NPU-HAL-025: uid {uid} had {stream.requests} requests, its work is {expected} bursts"
                raise Found("wrong-status", what, "NPU-HAL-025")


def config_problems(configs: Sequence[SchedulingConfig], *, has_bounds: bool) -> tuple[tuple[str, ...], bool]:
    """The requirements that configs of one call break, and whether the contract leaves them open otherwise.

    has_bounds: a config has bounds of its own (the public page's profile). A negative uid nobody has ruled out.
    """
    wrong = []
    if any(config.priority not in PRIORITIES for config in configs):
        wrong.append("NPU-HAL-004")
    if len({config.uid for config in configs}) < len(configs):
        wrong.append("NPU-HAL-005")
    if has_bounds and not all(_is_bounded(config) for config in configs):
        wrong.append("NPU-HAL-036")
    return tuple(wrong), any(config.uid < 0 for config in configs)


def _is_bounded(config: SchedulingConfig) -> bool:
    bounds = [PRIORITIES[0], config.min_priority, config.priority, config.max_priority, PRIORITIES[-1]]
    return bounds == sorted(bounds)
