"""The compute unit under load: whose turn it is, how executions step aside and come back, and what deadlines do."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from patience import SECONDS, eventually

from npu_conformance.reference.device.compute_unit import (
    SUBMODEL,
    TURN_NS,
    Checkpoint,
    ComputeUnit,
    Job,
    Preemption,
    QueueFullError,
    strategy,
)
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority

A, B = 10001, 10002


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000

    def now_ns(self) -> int:
        return self.now


class Work:
    """Executions of some operations each; one of them can be held at an operation until the test lets it go."""

    def __init__(self, fixture: UnitFixture, name: str, operations: int, held_at: int | None) -> None:
        self._fixture, self._name, self._operations, self._held_at = fixture, name, operations, held_at
        self.held, self.go = threading.Event(), threading.Event()
        self.attempts = 0

    def __call__(self, checkpoint: Checkpoint) -> int:
        self.attempts += 1
        total = 0
        for number in range(self._operations):
            if number == self._held_at and self.attempts == 1:
                self.held.set()
                assert self.go.wait(SECONDS)
            checkpoint()
            self._fixture.log.append(f"{self._name}{number}")
            total += number
        return total


class UnitFixture:
    """A unit, a clock that stands still, and a thread for each execution."""

    def __init__(self, preemption: Preemption = Preemption.RESUME, capacity: int = 8) -> None:
        self.clock = Clock()
        self.unit = ComputeUnit(self.clock, preemption, capacity)
        self.log: list[str] = []
        self._pool = ThreadPoolExecutor(16)

    def start(
        self, name: str, app: int, priority: int, operations: int = 3, held_at: int | None = None,
        deadline_ns: int | None = None,
    ) -> tuple[Work, Future[int], Job]:  # fmt: skip
        """Launch an execution, and return once it runs, is held, or waits for its turn."""
        work, job = Work(self, name, operations, held_at), self.unit.job(app, priority, deadline_ns)
        future = self._pool.submit(self.unit.execute, job, work)
        eventually(lambda: future.done() or work.held.is_set() or job in self.unit._waiting.get(app, ()))
        return work, future, job


def status_of(future: Future[int]) -> int:
    with pytest.raises(ServiceError) as caught:
        future.result(SECONDS)
    return caught.value.status


def test_priorities_order_the_executions_of_an_app_and_arrival_those_of_a_priority() -> None:
    fixture = UnitFixture(Preemption.NONE)
    first, *_ = fixture.start("first", A, Priority.HIGH, held_at=0)
    futures = [
        fixture.start(name, A, priority, operations=1)[1]
        for name, priority in (("l", Priority.LOW), ("m", Priority.MEDIUM), ("h", Priority.HIGH), ("n", Priority.LOW))
    ]
    first.go.set()
    assert [future.result(SECONDS) for future in futures] == [0] * 4
    assert fixture.log[3:] == ["h0", "m0", "l0", "n0"]


def test_apps_take_turns_whatever_their_priorities() -> None:
    fixture = UnitFixture(Preemption.NONE)
    first, *_ = fixture.start("first", A, Priority.HIGH, held_at=0)
    futures = [fixture.start(f"a{number}", A, Priority.HIGH, operations=1)[1] for number in range(3)]
    futures.append(fixture.start("b", B, Priority.LOW, operations=1)[1])
    first.go.set()
    for future in futures:
        future.result(SECONDS)
    assert fixture.log[3:] == ["b0", "a00", "a10", "a20"]


@pytest.mark.parametrize(
    ("preemption", "order", "attempts"),
    [
        (Preemption.RESUME, ["low0", "high0", "high1", "low1", "low2"], 1),
        (Preemption.RESTART, ["low0", "high0", "high1", "low0", "low1", "low2"], 2),
        (Preemption.NONE, ["low0", "low1", "low2", "high0", "high1"], 1),
    ],
)
def test_an_urgent_execution_goes_first_at_the_next_checkpoint(
    preemption: Preemption, order: list[str], attempts: int
) -> None:
    fixture = UnitFixture(preemption)
    low, low_result, _ = fixture.start("low", A, Priority.LOW, held_at=1)
    _, high_result, _ = fixture.start("high", A, Priority.HIGH, operations=2)
    low.go.set()
    assert (low_result.result(SECONDS), high_result.result(SECONDS)) == (3, 1)
    assert (fixture.log, low.attempts) == (order, attempts)


def test_submodels_are_not_interrupted_inside() -> None:
    fixture = UnitFixture(Preemption.SUBMODELS)
    low, low_result, _ = fixture.start("low", A, Priority.LOW, operations=2 * SUBMODEL, held_at=1)
    fixture.start("high", A, Priority.HIGH, operations=1)
    low.go.set()
    assert low_result.result(SECONDS) == sum(range(2 * SUBMODEL))
    assert fixture.log.index("high0") == SUBMODEL - 1


def test_an_execution_yields_to_another_app_once_its_turn_is_over_whatever_the_priorities() -> None:
    fixture = UnitFixture()
    first, first_result, _ = fixture.start("a", A, Priority.HIGH, operations=3, held_at=1)
    _, other, _ = fixture.start("b", B, Priority.LOW, operations=1)
    fixture.clock.now += TURN_NS
    first.go.set()
    other.result(SECONDS), first_result.result(SECONDS)
    assert fixture.log == ["a0", "b0", "a1", "a2"]


def test_an_urgent_execution_of_another_app_does_not_go_first() -> None:
    fixture = UnitFixture()
    low, low_result, _ = fixture.start("low", A, Priority.LOW, held_at=1)
    _, high, _ = fixture.start("high", B, Priority.HIGH, operations=1)
    low.go.set()
    high.result(SECONDS), low_result.result(SECONDS)
    assert fixture.log == ["low0", "low1", "low2", "high0"]


def test_a_full_queue_refuses_its_own_app_only() -> None:
    fixture = UnitFixture(capacity=1)
    first, _, _ = fixture.start("first", A, Priority.LOW, held_at=0)
    fixture.start("second", A, Priority.LOW)
    _, third, _ = fixture.start("third", A, Priority.HIGH)
    with pytest.raises(QueueFullError):
        third.result(SECONDS)
    _, other, _ = fixture.start("other", B, Priority.LOW)
    first.go.set()
    assert other.result(SECONDS) == 3


def test_a_deadline_missed_for_waiting_is_transient_and_frees_the_place() -> None:
    fixture = UnitFixture(capacity=1)
    first, first_result, _ = fixture.start("first", A, Priority.LOW, held_at=0)
    _, late, _ = fixture.start("late", A, Priority.LOW, deadline_ns=fixture.clock.now + 2_000_000)
    fixture.clock.now += 3_000_000
    assert status_of(late) == ErrorStatus.MISSED_DEADLINE_TRANSIENT
    _, next_result, _ = fixture.start("next", A, Priority.LOW)
    first.go.set()
    assert (first_result.result(SECONDS), next_result.result(SECONDS)) == (3, 3)
    assert "late0" not in fixture.log


def test_a_deadline_missed_alone_is_persistent_and_the_unit_is_free_again() -> None:
    fixture = UnitFixture()
    work, result, _ = fixture.start("slow", A, Priority.LOW, held_at=1, deadline_ns=fixture.clock.now + 1000)
    fixture.clock.now += 1000
    work.go.set()
    assert status_of(result) == ErrorStatus.MISSED_DEADLINE_PERSISTENT
    assert fixture.start("next", A, Priority.LOW)[1].result(SECONDS) == 3


def test_a_deadline_missed_after_stepping_aside_is_transient() -> None:
    fixture = UnitFixture()
    low, low_result, _ = fixture.start("low", A, Priority.LOW, held_at=1, deadline_ns=fixture.clock.now + 2_000_000)
    high, high_result, _ = fixture.start("high", A, Priority.HIGH, operations=2, held_at=1)
    low.go.set()
    assert high.held.wait(SECONDS)
    fixture.clock.now += 3_000_000
    assert status_of(low_result) == ErrorStatus.MISSED_DEADLINE_TRANSIENT
    high.go.set()
    assert high_result.result(SECONDS) == 1


def test_a_failing_execution_leaves_the_unit_to_the_next() -> None:
    fixture = UnitFixture()

    def work(checkpoint: Checkpoint) -> int:
        checkpoint()
        raise ServiceError(ErrorStatus.GENERAL_FAILURE)

    with pytest.raises(ServiceError):
        fixture.unit.execute(fixture.unit.job(A, Priority.LOW), work)
    assert fixture.start("next", A, Priority.LOW)[1].result(SECONDS) == 3


def test_an_execution_that_begins_at_the_time_0_has_begun() -> None:
    fixture = UnitFixture()
    fixture.clock.now = 0
    low, low_result, job = fixture.start("low", A, Priority.LOW, held_at=1)
    _, high_result, _ = fixture.start("high", A, Priority.HIGH)
    fixture.clock.now = 50
    low.go.set()
    assert (high_result.result(SECONDS), low_result.result(SECONDS)) == (3, 3)
    assert job.began_ns == 0


def test_waiting_is_counted_before_the_first_operation_and_at_checkpoints() -> None:
    fixture = UnitFixture()
    first, _, _ = fixture.start("first", A, Priority.LOW, held_at=1)
    low, low_result, job = fixture.start("low", A, Priority.LOW, held_at=1)
    fixture.clock.now += 100
    first.go.set()
    assert low.held.wait(SECONDS)
    assert (job.waited_ns, job.began_ns) == (100, fixture.clock.now)
    high, _, _ = fixture.start("high", A, Priority.HIGH, operations=2, held_at=1)
    low.go.set()
    assert high.held.wait(SECONDS)
    fixture.clock.now += 30
    high.go.set()
    low_result.result(SECONDS)
    assert job.waited_ns == 130


def test_a_strategy_that_does_not_exist_is_refused_by_name() -> None:
    assert strategy("restart") is Preemption.RESTART
    with pytest.raises(ValueError, match="expected one of resume, submodels, restart, none, found 'never'"):
        strategy("never")
