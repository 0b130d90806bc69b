"""The reference npu scheduling HAL on a virtual clock: order of work, debounced events, callbacks that hang."""

from __future__ import annotations

import random
import threading
from collections import defaultdict

import pytest

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal.scheduling import INFERENCE_NS, SchedulingService
from npu_conformance.reference.hal.scheduling_workload import Control, TestInferences
from npu_conformance.specs.errors import DeadObject, IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, SchedulingConfig, StartReason, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Caller

MS = 1_000_000
INFERENCE_MS = INFERENCE_NS // MS
STRONG, WEAK = 1, 2
Notification = tuple[str, int | None]


class Recorder(SchedulingCallback):
    def __init__(self) -> None:
        self.events: list[tuple[str, WorkInfo, int | None]] = []

    def on_work_requested(self, work: WorkInfo) -> None:
        self.events.append(("requested", work, None))

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        self.events.append(("started", work, reason))

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        self.events.append(("ended", work, reason))

    def notifications(self, uid: int) -> list[Notification]:
        return [(kind, reason) for kind, work, reason in self.events if work.uid == uid]

    def times(self, uid: int) -> list[int]:
        return [work.timestamp_ms for _, work, _ in self.events if work.uid == uid]


REQUESTED: Notification = ("requested", None)
STARTED: Notification = ("started", StartReason.INITIAL)
RESUMED: Notification = ("started", StartReason.RESUMED)
PAUSED: Notification = ("ended", EndReason.PAUSED)
COMPLETED: Notification = ("ended", EndReason.COMPLETED)


class Npu:
    def __init__(self, devices: int = 1, debounce_ms: int = 50) -> None:
        self.clock = VirtualClock()
        self.service = SchedulingService(self.clock, devices)
        self.received = Recorder()
        self.service.set_callback(self.received, debounce_ms)
        self.service.set_scheduling_configs((config(STRONG, 100), config(WEAK, 1000)))
        self.ends: list[tuple[int, EndReason, int]] = []

    def submit(self, uid: int, job_priority: int = 0, device: int | None = None) -> None:
        run = InferenceRun(job_priority, device_number=device)
        self.service.submit(Caller(uid, 7), run, lambda reason: self.ends.append((uid, reason, self.now_ms())))

    def now_ms(self) -> int:
        return self.clock.now_ns() // MS

    def advance(self, duration_ms: int) -> None:
        self.clock.advance(duration_ms * MS)


def config(uid: int, priority: int) -> SchedulingConfig:
    return SchedulingConfig(uid, priority, True, False)


def test_stronger_work_interrupts_at_the_next_checkpoint_and_what_it_interrupted_goes_on() -> None:
    npu = Npu()
    npu.submit(WEAK)
    npu.advance(13)
    npu.submit(STRONG)
    npu.submit(STRONG)
    npu.advance(1000)
    assert npu.ends == [(STRONG, EndReason.COMPLETED, end) for end in (60, 100)] + [(WEAK, EndReason.COMPLETED, 120)]
    assert npu.received.notifications(WEAK) == [REQUESTED, STARTED, PAUSED, RESUMED, COMPLETED]
    assert npu.received.times(WEAK) == [0, 0, 20, 100, 120]
    assert npu.received.notifications(STRONG) == [REQUESTED, STARTED, COMPLETED]
    assert npu.received.times(STRONG) == [13, 20, 100]


def test_nobody_changes_rights_between_their_check_and_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    npu, changed = Npu(), threading.Event()

    def refuse() -> None:
        npu.service.set_scheduling_configs((SchedulingConfig(WEAK, 1000, False, False),))
        changed.set()

    def check_slowly(uid: int, run: InferenceRun) -> None:
        check(uid, run)
        refusing.start()
        assert not changed.wait(0.05)

    check, refusing = npu.service._check, threading.Thread(target=refuse)
    monkeypatch.setattr(npu.service, "_check", check_slowly)
    npu.submit(WEAK)
    refusing.join()
    npu.advance(1000)
    assert [reason for _, reason, _ in npu.ends] == [EndReason.COMPLETED]


def test_a_pause_below_the_debounce_time_is_not_told() -> None:
    npu = Npu()
    npu.submit(WEAK)
    npu.advance(13)
    npu.submit(STRONG)
    npu.advance(1000)
    assert npu.received.notifications(WEAK) == [REQUESTED, STARTED, COMPLETED]
    assert npu.ends == [(STRONG, EndReason.COMPLETED, 60), (WEAK, EndReason.COMPLETED, 80)]


def test_a_pause_of_the_debounce_time_is_told_at_its_own_time() -> None:
    npu = Npu(debounce_ms=INFERENCE_MS)
    npu.submit(WEAK)
    npu.advance(10)
    npu.submit(STRONG)
    npu.advance(INFERENCE_MS)
    npu.advance(1000)
    assert npu.received.notifications(WEAK) == [REQUESTED, STARTED, PAUSED, RESUMED, COMPLETED]
    assert npu.received.times(WEAK) == [0, 0, 10, 50, 80]


def test_work_that_comes_at_the_end_of_the_last_item_waits_for_the_end() -> None:
    npu = Npu()
    npu.submit(WEAK)
    npu.advance(35)
    npu.submit(STRONG)
    npu.advance(1000)
    assert npu.ends == [(WEAK, EndReason.COMPLETED, 40), (STRONG, EndReason.COMPLETED, 80)]


def test_equals_are_served_in_order_of_arrival_and_not_interrupted() -> None:
    npu = Npu()
    for uid in (5, 3, 4):
        npu.submit(uid)
        npu.advance(1)
    npu.advance(1000)
    assert [(uid, at) for uid, _, at in npu.ends] == [(5, 40), (3, 80), (4, 120)]


def test_devices_work_side_by_side() -> None:
    npu = Npu(devices=2)
    npu.submit(WEAK, device=0)
    npu.submit(WEAK, device=1)
    npu.advance(40)
    assert [at for *_, at in npu.ends] == [40, 40]
    for number in (2, -1):
        with pytest.raises(IllegalArgument, match=f"device {number}"):
            npu.submit(WEAK, device=number)


def test_a_config_moves_work_that_waits_and_work_that_runs() -> None:
    npu = Npu()
    npu.submit(STRONG)
    npu.submit(WEAK)
    npu.advance(5)
    npu.service.update_scheduling_configs((config(WEAK, 0),))
    npu.advance(1000)
    assert [(uid, at) for uid, _, at in npu.ends] == [(WEAK, 50), (STRONG, 80)]


def test_a_config_that_is_changed_and_changed_back_changes_nothing() -> None:
    npu = Npu()
    npu.submit(STRONG)
    npu.submit(WEAK)
    npu.submit(3, 500)
    npu.service.update_scheduling_configs((config(WEAK, 0),))
    npu.service.update_scheduling_configs((config(WEAK, 1000),))
    npu.advance(1000)
    assert [(uid, at) for uid, _, at in npu.ends] == [(STRONG, 40), (WEAK, 80), (3, 120)]


def test_stronger_work_that_is_withdrawn_before_the_checkpoint_interrupts_nothing() -> None:
    npu = Npu()
    npu.submit(WEAK)
    npu.advance(3)
    npu.submit(STRONG)
    npu.service.end_work(STRONG, EndReason.CANCELLED_USER)
    npu.advance(1000)
    assert npu.ends == [(STRONG, EndReason.CANCELLED_USER, 3), (WEAK, EndReason.COMPLETED, 40)]
    assert npu.received.notifications(STRONG) == [REQUESTED, ("ended", EndReason.CANCELLED_USER)]


def test_ending_work_gives_the_device_to_the_next_at_once_and_only_once() -> None:
    npu = Npu()
    run = InferenceRun(0)
    end = npu.service.submit(Caller(STRONG, 7), run)
    npu.submit(WEAK)
    npu.advance(5)
    end(EndReason.FAILED)
    end(EndReason.CANCELLED_SYSTEM)
    npu.advance(1000)
    assert npu.ends == [(WEAK, EndReason.COMPLETED, 45)]
    assert npu.received.notifications(STRONG) == [REQUESTED, STARTED, ("ended", EndReason.FAILED)]


def test_a_uid_whose_first_work_waits_has_no_pause_told() -> None:
    npu = Npu()
    npu.service.set_scheduling_configs((config(1, 600), config(2, 100), config(3, 0)))
    npu.submit(1)
    npu.advance(1)
    npu.submit(2, 1000)
    npu.submit(2, 0)
    npu.advance(10)
    for _ in range(3):
        npu.submit(3)
    npu.advance(1000)
    assert npu.received.notifications(2) == [REQUESTED, STARTED, COMPLETED]


@pytest.mark.parametrize(("gap_ms", "bursts"), [(0, 1), (49, 1), (50, 2), (51, 2)])
def test_the_gap_decides_about_the_burst(gap_ms: int, bursts: int) -> None:
    npu = Npu()
    npu.submit(WEAK)
    npu.advance(INFERENCE_MS + gap_ms)
    npu.submit(WEAK)
    npu.advance(1000)
    assert npu.received.notifications(WEAK) == bursts * [REQUESTED, STARTED, COMPLETED]


def test_an_end_keeps_the_debounce_time_that_it_began_with() -> None:
    npu = Npu(debounce_ms=10)
    npu.submit(WEAK)
    npu.advance(INFERENCE_MS)
    npu.service.set_callback(npu.received, 500)
    npu.advance(10)
    assert npu.received.notifications(WEAK) == [REQUESTED, STARTED, COMPLETED]


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules_keep_the_rules(seed: int) -> None:
    rng = random.Random(seed)
    npu = Npu(devices=rng.choice((1, 1, 2, 3)), debounce_ms=rng.choice((0, 5, 50, 200)))
    uids = range(1, 6)
    submitted = 0
    for _ in range(120):
        uid = rng.choice(uids)
        step = rng.random()
        if step < 0.6:
            npu.submit(uid, rng.choice((0, 0, 300, 1000)), rng.randrange(npu.service.scheduler.devices))
            submitted += 1
        elif step < 0.7:
            npu.service.update_scheduling_configs((config(uid, rng.choice((0, 100, 1000))),))
        elif step < 0.78:
            npu.service.end_work(uid, rng.choice((EndReason.CANCELLED_USER, EndReason.FAILED)))
        npu.advance(rng.choice((0, 1, 7, 10, 33, 60)))
    npu.advance(60_000)
    assert len(npu.ends) == submitted, "work was lost, or ended twice"
    ids = [work.id for _, work, _ in npu.received.events]
    assert len(set(ids)) == len(ids)
    in_order = sorted(npu.received.events, key=lambda event: event[1].id)
    times = [work.timestamp_ms for _, work, _ in in_order]
    assert times == sorted(times), "ids and times do not rise together"
    for uid in uids:
        _check_grammar(npu.received.notifications(uid))
        own = [work.id for _, work, _ in npu.received.events if work.uid == uid]
        assert own == sorted(own)


def _check_grammar(notifications: list[Notification]) -> None:
    """Check that events are repetitions of: requested, (started, pauses)?, ended."""
    state = "idle"
    follow = {
        ("idle", "requested"): "requested",
        ("requested", "started"): "started",
        ("requested", "ended"): "idle",
        ("started", "ended"): "idle",
        ("started", "paused"): "paused",
        ("paused", "resumed"): "started",
        ("paused", "ended"): "idle",
    }
    for kind, reason in notifications:
        word = "paused" if (kind, reason) == PAUSED else "resumed" if (kind, reason) == RESUMED else kind
        assert (state, word) in follow, (notifications, state, word)
        state = follow[state, word]
    assert state == "idle", notifications


def test_random_schedules_are_the_same_each_time() -> None:
    def play() -> list[tuple[str, WorkInfo, int | None]]:
        rng, npu = random.Random(7), Npu(devices=2)
        for _ in range(300):
            npu.submit(rng.randrange(1, 9), rng.randrange(0, 1001, 100), rng.randrange(2))
            npu.advance(rng.randrange(30))
        npu.advance(100_000)
        return npu.received.events

    assert play() == play() != []


def test_no_work_of_equals_starves_while_others_keep_coming() -> None:
    npu = Npu()
    served: dict[int, int] = defaultdict(int)
    left = 200

    def again(uid: int) -> None:
        def on_end(reason: EndReason) -> None:
            nonlocal left
            served[uid] += 1
            left -= 1
            if left > 0:
                again(uid)

        npu.service.submit(Caller(uid, 7), InferenceRun(0), on_end)

    for uid in (10, 11, 12):
        again(uid)
    npu.advance(200 * INFERENCE_MS)
    assert max(served.values()) - min(served.values()) <= 1


def test_a_replaced_callback_hears_nothing_of_what_was_on_its_way() -> None:
    npu, other = Npu(), Recorder()
    npu.submit(WEAK)
    npu.service.set_callback(other)
    npu.advance(1000)
    assert npu.received.events == []
    assert other.notifications(WEAK) == [STARTED, COMPLETED][1:]


def test_a_dead_callback_of_this_process_changes_nothing() -> None:
    class Dead(SchedulingCallback):
        def on_work_requested(self, work: WorkInfo) -> None:
            raise DeadObject("gone")

    npu = Npu()
    npu.service.set_callback(Dead())
    npu.submit(WEAK)
    npu.advance(1000)
    assert npu.ends == [(WEAK, EndReason.COMPLETED, 40)]


class Ended(WorkloadCallback):
    def __init__(self) -> None:
        self.succeeded: list[bool] = []

    def on_run_ended(self, succeeded: bool) -> None:
        self.succeeded.append(succeeded)


def test_a_run_ends_without_success_when_its_right_is_withdrawn() -> None:
    npu, ended = Npu(), Ended()
    workload = TestInferences(npu.service, lambda: Caller(WEAK, 7))
    workload.run_test_inference(InferenceRun(), ended)
    npu.advance(100)
    npu.service.update_scheduling_configs((SchedulingConfig(WEAK, 1000, False, False),))
    npu.advance(1000)
    assert ended.succeeded == [False]
    with pytest.raises(SecurityDenied):
        workload.run_test_inference(InferenceRun(), ended)


def test_a_run_whose_app_died_ends_unheard() -> None:
    class Dead(WorkloadCallback):
        def on_run_ended(self, succeeded: bool) -> None:
            raise DeadObject("gone")

    npu = Npu()
    TestInferences(npu.service, lambda: Caller(WEAK, 7)).run_test_inference(InferenceRun(), Dead())
    npu.advance(1000)
    assert npu.received.notifications(WEAK) == [REQUESTED, STARTED, COMPLETED]
    assert npu.service._live == {}


def test_time_does_not_go_back() -> None:
    npu = Npu()
    with pytest.raises(IllegalArgument, match="cannot go back by 5 ns"):
        Control(npu.service).advance_clock(-5)


def test_nothing_is_kept_of_work_that_is_over() -> None:
    npu = Npu(debounce_ms=1)
    for uid in range(100):
        npu.submit(uid)
    npu.advance(100_000)
    assert (npu.service._live, npu.service._events._bursts) == ({}, {})
    assert all(not device.queue for device in npu.service.scheduler._devices)
