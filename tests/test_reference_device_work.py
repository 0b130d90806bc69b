"""Executions of the reference's device as the scheduling HAL reports them, on the virtual clock and in real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.device.compute_unit import TURN_NS, Checkpoint, ComputeUnit
from npu_conformance.reference.hal.device_work import DeviceWork
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_workload import TestInferences
from npu_conformance.reference.real_time import RealTimers
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, SchedulingConfig, StartReason, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Caller

CAMERA, ASSISTANT = 10_001, 10_002
LONG_NS = 1_000_000_000
SECONDS = 20.0


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
    """A compute unit whose work is reported on a virtual clock."""

    def __init__(self) -> None:
        self.clock, self.heard = VirtualClock(), Recorder()
        service = SchedulingService(self.clock)
        service.set_scheduling_configs((SchedulingConfig(CAMERA, 100, True, False),))
        service.set_callback(self.heard)
        self.unit = ComputeUnit(self.clock, watcher=DeviceWork(service))

    def execute(self, uid: int, work: Callable[[Checkpoint], None]) -> None:
        self.unit.execute(self.unit.job(uid, 1), work)


def test_an_execution_is_work_of_the_app_whose_model_it_is() -> None:
    npu = Npu()
    npu.execute(CAMERA, lambda checkpoint: checkpoint())
    npu.clock.advance(LONG_NS)
    assert npu.heard.events == [
        ("requested", CAMERA, None),
        ("started", CAMERA, StartReason.INITIAL),
        ("ended", CAMERA, EndReason.COMPLETED),
    ]
    assert npu.heard.priorities == {100 + 500}


def test_inferences_one_after_the_other_are_one_burst() -> None:
    npu = Npu()
    for _ in range(20):
        npu.execute(ASSISTANT, lambda checkpoint: checkpoint())
        npu.clock.advance(10_000_000)
    npu.clock.advance(LONG_NS)
    assert [kind for kind, _, _ in npu.heard.events] == ["requested", "started", "ended"]


def test_an_execution_that_fails_has_failed() -> None:
    npu = Npu()

    def fail(checkpoint: Checkpoint) -> None:
        raise ValueError("no such bytes")

    with pytest.raises(ValueError, match="no such bytes"):
        npu.execute(CAMERA, fail)
    npu.clock.advance(LONG_NS)
    assert npu.heard.events[-1] == ("ended", CAMERA, EndReason.FAILED)


def test_an_execution_that_steps_aside_is_paused_and_resumed() -> None:
    npu = Npu()
    waits, may_end = threading.Event(), threading.Event()

    def other(checkpoint: Checkpoint) -> None:
        npu.clock.advance(LONG_NS)  # long enough for the pause to be told
        assert may_end.wait(SECONDS)

    def wait_aside() -> None:
        waits.set()
        npu.execute(CAMERA, other)

    thread = threading.Thread(target=wait_aside)

    def work(checkpoint: Checkpoint) -> None:
        thread.start()
        assert waits.wait(SECONDS)
        deadline = time.monotonic() + SECONDS
        while not any(uid == CAMERA for _, uid, _ in npu.heard.events):
            npu.clock.advance(TURN_NS)
            assert time.monotonic() < deadline
        may_end.set()
        while ("started", CAMERA, StartReason.INITIAL) not in npu.heard.events:
            npu.clock.advance(TURN_NS)
            checkpoint()
            assert time.monotonic() < deadline

    npu.execute(ASSISTANT, work)
    thread.join(SECONDS)
    npu.clock.advance(LONG_NS)
    assert [(kind, reason) for kind, uid, reason in npu.heard.events if uid == ASSISTANT] == [
        ("requested", None),
        ("started", StartReason.INITIAL),
        ("ended", EndReason.PAUSED),
        ("started", StartReason.RESUMED),
        ("ended", EndReason.COMPLETED),
    ]


class _Over(WorkloadCallback):
    def __init__(self) -> None:
        self.over = threading.Event()

    def on_run_ended(self, succeeded: bool) -> None:
        assert succeeded
        self.over.set()


def test_test_inferences_run_by_themselves_in_real_time() -> None:
    service, heard, told = SchedulingService(RealTimers()), Recorder(), _Over()
    service.set_callback(heard, 1)
    TestInferences(service, lambda: Caller(CAMERA, 1), inferences=2).run_test_inference(InferenceRun(), told)
    assert told.over.wait(SECONDS)
    deadline = time.monotonic() + SECONDS
    while not heard.events or heard.events[-1][0] != "ended":
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert heard.events[0] == ("requested", CAMERA, None)
    assert heard.events[-1] == ("ended", CAMERA, EndReason.COMPLETED)
