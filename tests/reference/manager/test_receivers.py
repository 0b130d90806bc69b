"""How events reach callbacks of the scheduling HAL: in order, and without anything waiting for them."""

from __future__ import annotations

import gc
import threading
from functools import partial

import patience
import pytest

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_receiver import Courier, Posted
from npu_conformance.reference.hal.scheduling_workload import Control, TestInferences
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Caller

MS = 1_000_000


class Blocked(SchedulingCallback):
    """Hangs in its first event until the test releases it."""

    def __init__(self) -> None:
        self.entered, self.go = threading.Event(), threading.Event()
        self.count = 0

    def on_work_requested(self, work: WorkInfo) -> None:
        self.count += 1
        self.entered.set()
        self.go.wait(patience.SECONDS)

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        self.count += 1

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        self.count += 1


def test_a_blocked_callback_delays_nothing_and_gets_its_events_later() -> None:
    clock = VirtualClock()
    service = SchedulingService(clock, receiver=lambda: Courier(patience_s=0.01))
    control, blocked = Control(service), Blocked()
    service.set_callback(blocked)
    ends: list[EndReason] = []
    service.submit(Caller(1, 7), InferenceRun(0), ends.append)
    assert blocked.entered.wait(patience.SECONDS)
    control.advance_clock(1000 * MS)
    assert ends == [EndReason.COMPLETED]
    assert blocked.count == 1
    blocked.go.set()
    service._receiver = _settled(service._receiver)
    assert blocked.count == 3


class Ends(WorkloadCallback):
    """Keeps how runs ended. hold: what it waits for first."""

    def __init__(self, hold: threading.Event | None = None) -> None:
        self.hold = hold
        self.ends: list[bool] = []

    def on_run_ended(self, succeeded: bool) -> None:
        if self.hold is not None:
            assert self.hold.wait(patience.SECONDS)
        self.ends.append(succeeded)


def test_a_run_that_has_ended_leaves_nothing_to_the_collector() -> None:
    service = SchedulingService(VirtualClock())
    workload = TestInferences(service, lambda: Caller(1, 7))
    Control(service).advance_clock(1000 * MS)
    gc.disable()
    try:
        for _ in range(3):
            callback = Ends()
            workload.run_test_inference(InferenceRun(0), callback)
            Control(service).advance_clock(1000 * MS)
            assert callback.ends == [True]
        assert len(service._receivers) == 1, "only the one of the events brings anything"
    finally:
        gc.enable()


def test_who_blocks_the_end_of_a_run_delays_nobody_else() -> None:
    service, go = SchedulingService(VirtualClock(), receiver=lambda: Courier(patience_s=0.01)), threading.Event()
    workload, blocked, other = TestInferences(service, lambda: Caller(1, 7), 1), Ends(go), Ends()
    workload.run_test_inference(InferenceRun(0), blocked)
    workload.run_test_inference(InferenceRun(0), other)
    Control(service).advance_clock(1000 * MS)
    patience.eventually(lambda: other.ends == [True])
    assert blocked.ends == []
    go.set()
    patience.eventually(lambda: blocked.ends == [True])


def _settled(courier: object) -> Courier:
    assert isinstance(courier, Courier)
    with courier._changed:
        assert courier._changed.wait_for(lambda: not courier._waiting, 10)
    return courier


def test_a_callback_that_takes_nothing_is_given_up_when_too_much_waits() -> None:
    entered, go, brought = threading.Event(), threading.Event(), []
    courier = Courier(capacity=3, patience_s=0.01)

    def blocked() -> None:
        entered.set()
        brought.append(go.wait(patience.SECONDS))

    courier.send(blocked)
    assert entered.wait(patience.SECONDS)
    for _ in range(2):
        courier.send(lambda: brought.append(True))
    assert len(courier._waiting) == 3
    courier.send(lambda: brought.append(True))
    assert not courier._waiting
    go.set()
    courier.send(lambda: brought.append(True))
    with courier._changed:
        assert courier._changed.wait_for(lambda: not courier._is_running, patience.SECONDS)
    assert brought == [True]


def test_a_courier_brings_in_order_and_survives_dead_callbacks() -> None:
    courier = Courier()
    brought: list[int] = []

    def dead() -> None:
        raise DeadObject("gone")

    for index in range(50):
        courier.send(partial(brought.append, index))
        courier.send(dead)
    courier.settle()
    assert brought == list(range(50))
    courier.close()
    courier.send(lambda: brought.append(-1))
    courier.settle()
    assert brought == list(range(50))


def test_what_was_posted_is_brought_when_the_clock_moves_unless_it_was_closed_before() -> None:
    clock, brought = VirtualClock(), []
    first, second = Posted(clock), Posted(clock)
    first.send(lambda: brought.append("first"))
    second.send(lambda: brought.append("second"))
    assert brought == []
    first.close()
    clock.advance(0)
    assert brought == ["second"]


def test_a_courier_goes_on_behind_a_callback_that_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    courier, brought = Courier(), list[int]()

    def broken() -> None:
        raise ValueError("not what a callback may raise")

    courier.send(broken)
    courier.send(lambda: brought.append(1))
    courier.settle()
    assert brought == [1]
    assert "not what a callback may raise" in capsys.readouterr().err
    courier.close()
