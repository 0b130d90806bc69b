"""Executions of the reference's device as work of the scheduling HAL: who may, who is first, and what is reported."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from patience import SECONDS, eventually

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.device.compute_unit import CAPACITY, TURN_NS, Checkpoint, ComputeUnit
from npu_conformance.reference.hal.device_work import DeviceWork
from npu_conformance.reference.hal.scheduling import INFERENCE_NS, SchedulingService
from npu_conformance.reference.hal.scheduling_workload import TestInferences
from npu_conformance.reference.real_time import RealTimers
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, SchedulingConfig, StartReason, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Caller

CAMERA, ASSISTANT, OTHER = 10_001, 10_002, 10_003
LONG_NS = 1_000_000_000


class Recorder(SchedulingCallback):
    """Keeps kind, uid, reason and effective priority of each event."""

    def __init__(self) -> None:
        self.events: list[tuple[str, int, int | None]] = []
        self.priorities: set[int] = set()

    def on_work_requested(self, work: WorkInfo) -> None:
        self._keep("requested", work, None)

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        self._keep("started", work, reason)

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        self._keep("ended", work, reason)

    def _keep(self, kind: str, work: WorkInfo, reason: int | None) -> None:
        self.events.append((kind, work.uid, reason))
        self.priorities.add(work.effective_priority)


class Npu:
    """A compute unit whose apps the scheduling HAL ranks, on a virtual clock."""

    def __init__(self) -> None:
        self.clock, self.received = VirtualClock(), Recorder()
        self.service = SchedulingService(self.clock)
        self.service.set_scheduling_configs((config(CAMERA, 100), config(ASSISTANT, 300)))
        self.service.set_callback(self.received)
        self.unit = ComputeUnit(self.clock, apps=DeviceWork(self.service))
        self.log: list[str] = []
        self._pool = ThreadPoolExecutor(8)

    def execute(self, uid: int, work: Callable[[Checkpoint], None], priority: int = 1) -> None:
        self.unit.execute(self.unit.job(uid, priority), work)

    def start(self, name: str, uid: int, priority: int = 1) -> tuple[Held, Future[None]]:
        """Start an execution that is held at its first operation; return when it is there, or waits for its turn."""
        work, job = Held(self, name), self.unit.job(uid, priority)
        future = self._pool.submit(self.unit.execute, job, work)
        eventually(lambda: future.done() or work.held.is_set() or job in self.unit._waiting.get(uid, ()))
        return work, future

    def events_of(self, uid: int) -> list[tuple[str, int | None]]:
        """The events of an app, once all that are due have arrived."""
        self.clock.advance(LONG_NS)
        return [(kind, reason) for kind, who, reason in self.received.events if who == uid]


class Held:
    """Three operations, the second of which waits until the test lets it go."""

    def __init__(self, npu: Npu, name: str) -> None:
        self._npu, self._name = npu, name
        self.held, self.go = threading.Event(), threading.Event()

    def __call__(self, checkpoint: Checkpoint) -> None:
        for number in range(3):
            if number == 1:
                self.held.set()
                assert self.go.wait(SECONDS)
            checkpoint()
            self._npu.log.append(f"{self._name}{number}")


def config(uid: int, priority: int, *, direct: bool = True) -> SchedulingConfig:
    return SchedulingConfig(uid, priority, direct, False)


UNDISTURBED = [("requested", None), ("started", StartReason.INITIAL), ("ended", EndReason.COMPLETED)]
PAUSED_ONCE = [*UNDISTURBED[:2], ("ended", EndReason.PAUSED), ("started", StartReason.RESUMED), UNDISTURBED[2]]


def test_an_execution_is_work_of_the_app_whose_model_it_is() -> None:
    npu = Npu()
    npu.execute(CAMERA, lambda checkpoint: checkpoint())
    npu.clock.advance(LONG_NS)
    assert npu.received.events == [
        ("requested", CAMERA, None),
        ("started", CAMERA, StartReason.INITIAL),
        ("ended", CAMERA, EndReason.COMPLETED),
    ]
    assert npu.received.priorities == {100 + 500}


def test_inferences_one_after_the_other_are_one_burst() -> None:
    npu = Npu()
    for _ in range(20):
        npu.execute(ASSISTANT, lambda checkpoint: checkpoint())
        npu.clock.advance(10_000_000)
    npu.clock.advance(LONG_NS)
    assert [kind for kind, _, _ in npu.received.events] == ["requested", "started", "ended"]


def test_an_execution_that_fails_has_failed() -> None:
    npu = Npu()

    def fail(checkpoint: Checkpoint) -> None:
        raise ValueError("no such bytes")

    with pytest.raises(ValueError, match="no such bytes"):
        npu.execute(CAMERA, fail)
    npu.clock.advance(LONG_NS)
    assert npu.received.events[-1] == ("ended", CAMERA, EndReason.FAILED)


def test_an_app_without_access_is_refused_in_silence_and_has_its_place_back() -> None:
    npu = Npu()
    npu.service.update_scheduling_configs((config(CAMERA, 100, direct=False),))
    for _ in range(CAPACITY + 1):
        with pytest.raises(ServiceError, match="no direct access") as caught:
            npu.execute(CAMERA, lambda checkpoint: checkpoint())
        assert caught.value.status == ErrorStatus.GENERAL_FAILURE
    assert npu.events_of(CAMERA) == []
    npu.execute(ASSISTANT, lambda checkpoint: checkpoint())
    npu.service.update_scheduling_configs((config(CAMERA, 100),))
    npu.execute(CAMERA, lambda checkpoint: checkpoint())
    assert npu.events_of(CAMERA) == UNDISTURBED


def test_an_execution_steps_aside_for_a_stronger_app_and_goes_on() -> None:
    npu = Npu()
    weak, weak_end = npu.start("weak", ASSISTANT)
    strong, strong_end = npu.start("strong", CAMERA)
    weak.go.set()
    assert strong.held.wait(SECONDS)
    npu.clock.advance(LONG_NS)  # long enough for the pause to be reported
    strong.go.set()
    assert (strong_end.result(SECONDS), weak_end.result(SECONDS)) == (None, None)
    assert npu.log == ["weak0", "strong0", "strong1", "strong2", "weak1", "weak2"]
    assert npu.events_of(ASSISTANT) == PAUSED_ONCE
    assert npu.events_of(CAMERA) == UNDISTURBED


def test_an_equal_or_weaker_app_waits_for_the_end_however_long_that_takes() -> None:
    npu = Npu()
    npu.service.update_scheduling_configs((config(OTHER, 100),))
    first, _ = npu.start("first", CAMERA)
    ends = []
    for name, uid in (("weaker", ASSISTANT), ("equal", OTHER)):
        work, end = npu.start(name, uid, priority=2)
        work.go.set()
        ends.append(end)
    npu.clock.advance(10 * TURN_NS)
    first.go.set()
    for end in ends:
        end.result(SECONDS)
    assert [entry for entry in npu.log if entry.endswith("0")] == ["first0", "equal0", "weaker0"]
    assert npu.log[:3] == ["first0", "first1", "first2"]


def test_among_executions_of_an_app_its_own_priorities_decide() -> None:
    npu = Npu()
    low, low_end = npu.start("low", CAMERA, priority=0)
    high, high_end = npu.start("high", CAMERA, priority=2)
    high.go.set()
    low.go.set()
    low_end.result(SECONDS), high_end.result(SECONDS)
    assert npu.log == ["low0", "high0", "high1", "high2", "low1", "low2"]
    assert npu.events_of(CAMERA) == UNDISTURBED


def test_a_config_moves_the_device_from_one_app_to_another() -> None:
    npu = Npu()
    first, first_end = npu.start("camera", CAMERA)
    second, _ = npu.start("assistant", ASSISTANT)
    second.go.set()
    npu.service.update_scheduling_configs((config(CAMERA, 400),))
    first.go.set()
    first_end.result(SECONDS)
    assert npu.log == ["camera0", "assistant0", "assistant1", "assistant2", "camera1", "camera2"]


def test_executions_and_test_inferences_share_the_device() -> None:
    npu = Npu()
    first, first_end = npu.start("first", ASSISTANT)
    ended: list[EndReason] = []
    npu.service.submit(Caller(CAMERA, 1), InferenceRun(), ended.append)
    npu.clock.advance(INFERENCE_NS)  # moves no execution before its own checkpoint
    first.go.set()
    eventually(lambda: bool(npu.unit._waiting[ASSISTANT]))
    second, second_end = npu.start("second", OTHER)
    second.go.set()
    assert (npu.log, ended) == (["first0"], [])
    npu.clock.advance(INFERENCE_NS)
    assert ended == [EndReason.COMPLETED]
    first_end.result(SECONDS), second_end.result(SECONDS)
    assert npu.log == ["first0", "first1", "first2", "second0", "second1", "second2"]


def test_an_execution_whose_time_is_over_while_it_waits_has_failed() -> None:
    npu = Npu()
    first, first_end = npu.start("first", CAMERA)
    job = npu.unit.job(ASSISTANT, 1, npu.clock.now_ns())
    with pytest.raises(ServiceError) as caught:
        npu.unit.execute(job, lambda checkpoint: checkpoint())
    assert caught.value.status == ErrorStatus.MISSED_DEADLINE_PERSISTENT
    assert npu.events_of(ASSISTANT) == [("requested", None), ("ended", EndReason.FAILED)]
    first.go.set()
    first_end.result(SECONDS)
    npu.execute(ASSISTANT, lambda checkpoint: checkpoint())
    assert npu.events_of(CAMERA) == UNDISTURBED


def test_a_pause_is_resumed_from_though_other_work_of_the_app_fails_meanwhile() -> None:
    npu = Npu()
    weak, weak_end = npu.start("weak", ASSISTANT)
    strong, strong_end = npu.start("strong", CAMERA)
    late = npu._pool.submit(
        npu.unit.execute, npu.unit.job(ASSISTANT, 1, npu.clock.now_ns() + 1), lambda checkpoint: None
    )
    weak.go.set()
    assert strong.held.wait(SECONDS)
    npu.clock.advance(LONG_NS)
    with pytest.raises(ServiceError):
        late.result(SECONDS)
    strong.go.set()
    assert (strong_end.result(SECONDS), weak_end.result(SECONDS)) == (None, None)
    assert npu.events_of(ASSISTANT) == PAUSED_ONCE


def test_executions_of_many_apps_all_come_to_their_end() -> None:
    """Nothing is lost, and one has the device, under executing threads, changing configs, and test inferences."""
    npu = Npu()
    inside, most, done = threading.Semaphore(1), 10, [0] * 6

    def work(checkpoint: Checkpoint) -> None:
        for _ in range(5):
            checkpoint()
            assert inside.acquire(blocking=False)
            time.sleep(0)
            inside.release()

    def app(number: int) -> None:
        for turn in range(most):
            npu.execute(20_000 + number // 2, work, turn % 3)
            done[number] += 1

    threads = [threading.Thread(target=app, args=(number,)) for number in range(len(done))]
    for thread in threads:
        thread.start()
    rng, deadline = random.Random(1), time.monotonic() + SECONDS
    while any(thread.is_alive() for thread in threads):
        npu.service.update_scheduling_configs((config(rng.randrange(20_000, 20_003), rng.randrange(1001)),))
        npu.service.submit(Caller(CAMERA, 1), InferenceRun(), length_ns=1000)
        npu.clock.advance(LONG_NS)
        time.sleep(0.001)
        assert time.monotonic() < deadline
    npu.clock.advance(LONG_NS)
    assert done == [most] * len(done)
    assert not npu.service._live


class _Over(WorkloadCallback):
    def __init__(self) -> None:
        self.over = threading.Event()

    def on_run_ended(self, succeeded: bool) -> None:
        assert succeeded
        self.over.set()


def test_test_inferences_run_by_themselves_in_real_time() -> None:
    service, received, over = SchedulingService(RealTimers()), Recorder(), _Over()
    service.set_callback(received, 1)
    TestInferences(service, lambda: Caller(CAMERA, 1), inferences=2).run_test_inference(InferenceRun(), over)
    assert over.over.wait(SECONDS)
    eventually(lambda: bool(received.events) and received.events[-1][0] == "ended")
    assert received.events[0] == ("requested", CAMERA, None)
    assert received.events[-1] == ("ended", CAMERA, EndReason.COMPLETED)
