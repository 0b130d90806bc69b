"""Threads that do one task after the other."""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue

import patience
import pytest

from npu_conformance.reference.crew import CREW, Crew, Task


def do(crew: Crew, entered: list[int]) -> None:
    """Let it do a task and wait for it. entered: gets the number of its thread."""
    before = len(entered)
    crew.do(lambda: entered.append(threading.get_ident()))
    patience.eventually(lambda: len(entered) > before)


def test_a_thread_is_used_for_the_next_task() -> None:
    crew, entered = Crew(patience.SECONDS), list[int]()
    for _ in range(20):
        do(crew, entered)
        patience.eventually(lambda: len(crew._idle) == 1)
    assert len(set(entered)) == 1


def test_who_hangs_keeps_nobody_waiting() -> None:
    crew, entered, go = Crew(patience.SECONDS), list[int](), threading.Event()
    do(crew, entered)
    patience.eventually(lambda: len(crew._idle) == 1)
    crew.do(lambda: [go.wait(patience.SECONDS)].clear())
    do(crew, entered)
    go.set()
    assert len(set(entered)) == 2


def test_a_task_that_comes_when_the_patience_is_over_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    crew, entered = Crew(patience_s=0.001), list[int]()
    is_over = crew._is_over

    def late(box: SimpleQueue[Task]) -> bool:
        if len(entered) == 1:
            crew.do(lambda: entered.append(threading.get_ident()))
        return is_over(box)

    monkeypatch.setattr(crew, "_is_over", late)
    do(crew, entered)
    patience.eventually(lambda: len(entered) == 2)
    assert entered[0] == entered[1]


@pytest.mark.parametrize("pause", [0.0, 0.001])
def test_no_task_is_lost_where_threads_end_meanwhile(pause: float) -> None:
    crew, done, pausing = Crew(patience_s=0.001), list[int](), threading.Event()
    for number in range(100):
        crew.do(lambda number=number: done.append(number))  # type: ignore[misc]
        pausing.wait(pause)
    patience.eventually(lambda: sorted(done) == list(range(100)))
    patience.eventually(lambda: not crew._idle)


def test_a_child_has_none_of_its_parents_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patient:
        patient.setattr(CREW, "_patience_s", patience.SECONDS)
        do(CREW, [])
        patience.eventually(lambda: bool(CREW._idle))
    child = os.fork()
    if child == 0:
        done = threading.Event()
        CREW.do(done.set)
        os._exit(0 if done.wait(patience.SECONDS) else 1)
    assert os.waitpid(child, 0)[1] == 0
    do(CREW, [])  # which ends the thread's long wait
