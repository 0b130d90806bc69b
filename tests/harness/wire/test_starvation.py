"""A deadline on a busy machine: what the other side does not get of the processors does not count."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import pytest
from patience import eventually

from npu_conformance.harness.wire import starvation
from npu_conformance.harness.wire.framing import LineSocket, TimedOut
from npu_conformance.harness.wire.starvation import Patience, starved, starved_threads


class Clock:
    """A time that the test sets, and how much of it the other side had no processor."""

    def __init__(self) -> None:
        self.now = self.starved = 0.0

    def monotonic(self) -> float:
        return self.now

    def go_on(self, seconds: float, starved: float) -> None:
        self.now += seconds
        self.starved += starved

    def is_over_after(self, seconds: float, patience: Patience, deadline: float, starved: float = 0.0) -> bool:
        """Go on in steps of a second or less, as whoever waits looks again and again."""
        for _ in range(20):
            self.go_on(seconds / 20, starved / 20)
            is_over = patience.is_over(deadline)
        return is_over


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(starvation, "time", clock)
    return clock


def test_time_that_a_process_waited_for_a_processor_is_read() -> None:
    assert 0 <= starved(os.getpid()) < time.monotonic()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert starved(gone.pid) == starved_threads(gone.pid) == 0


def test_what_any_thread_of_a_process_waited_for_is_read() -> None:
    """The answer of a driver may come from any, and its first thread has nothing to wait for meanwhile."""
    processor = {min(os.sched_getaffinity(0))}
    program = f"import os\nos.sched_setaffinity(0, {processor})\nwhile True: pass"
    end = threading.Event()

    def spin() -> None:
        os.sched_setaffinity(0, processor)
        while not end.is_set():
            pass

    spinning = threading.Thread(target=spin)
    with subprocess.Popen([sys.executable, "-c", program]) as rival:
        before = starved_threads(os.getpid())
        first = starved(os.getpid())
        spinning.start()
        try:
            eventually(lambda: starved_threads(os.getpid()) - before > 0.05 + 2 * (starved(os.getpid()) - first))
        finally:
            rival.kill()
            end.set()
            spinning.join()


@pytest.mark.parametrize(("without", "over"), [(0.0, True), (0.9, True), (1.2, False)])
def test_a_deadline_is_put_off_by_what_was_not_had(clock: Clock, without: float, over: bool) -> None:
    clock.starved = 40.0
    patience = Patience(lambda: clock.starved)
    assert not patience.is_over(5.0)
    assert clock.is_over_after(6.0, patience, 5.0, without) == over


def test_it_is_put_off_by_thrice_its_length_at_most(clock: Clock) -> None:
    patience = Patience(lambda: clock.starved)
    assert not patience.is_over(5.0)
    assert not clock.is_over_after(19.9, patience, 5.0, 19.9)
    assert clock.is_over_after(0.2, patience, 5.0, 0.2)


def test_what_was_not_had_before_somebody_waited_does_not_count(clock: Clock) -> None:
    patience = Patience(lambda: clock.starved)
    assert not patience.is_over(5.0)
    clock.go_on(4.0, 4.0)
    assert not patience.is_over(9.0)
    assert clock.is_over_after(5.1, patience, 9.0)


def test_time_in_which_this_process_stood_still_does_not_count(clock: Clock) -> None:
    patience = Patience()
    assert not patience.is_over(5.0)
    clock.go_on(60.0, 0.0)
    assert not patience.is_over(5.0), "the machine was suspended: the other side could not answer either"
    assert not clock.is_over_after(1.0, patience, 5.0)
    assert clock.is_over_after(6.0, patience, 5.0)


def test_it_may_stand_still_as_soon_as_it_waits(clock: Clock) -> None:
    patience = Patience()
    clock.go_on(60.0, 0.0)
    assert not patience.is_over(5.0, since=0.0)
    assert clock.is_over_after(6.0, patience, 5.0)


def test_each_thread_waits_for_itself(clock: Clock) -> None:
    patience = Patience(lambda: clock.starved)
    assert not patience.is_over(5.0)
    clock.go_on(3.0, 3.0)
    other = threading.Thread(target=patience.is_over, args=(9.0,))
    other.start()
    other.join()
    clock.go_on(4.0, 0.0)
    assert not patience.is_over(5.0)


def test_a_socket_asks() -> None:
    ours, theirs = socket.socketpair()
    asked: list[float] = []

    class Asked(Patience):
        def is_over(self, deadline: float, since: float | None = None) -> bool:
            assert since is not None
            asked.append(deadline)
            return len(asked) == 3

    with ours, theirs, pytest.raises(TimedOut):
        LineSocket(ours, patience=Asked()).receive(1.0)
    assert asked == [1.0, 1.0, 1.0]
