"""Work in forks: its answers, its deaths, its hangs, and what it does to the pipe; nothing of it stays behind."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import SECONDS

from npu_conformance.specs.forked import Ended, in_child, in_children, keep_nice


def forever() -> int:
    signal.pause()
    return 0


def test_a_child_answers_and_changes_nothing_here() -> None:
    changed: list[int] = []

    def change() -> int:
        changed.append(1)
        return len(changed)

    assert in_child(change, int, SECONDS) == 1
    assert changed == []


def test_an_answer_may_be_larger_than_a_pipe() -> None:
    assert in_child(lambda: "x" * 1_000_000, str, SECONDS) == "x" * 1_000_000


@pytest.mark.parametrize(
    ("work", "ended"),
    [
        (lambda: os.kill(os.getpid(), 9), Ended("was killed by SIGKILL", -9)),
        (lambda: os._exit(3), Ended("exited with status 3", 3)),
        (lambda: os._exit(0), Ended("exited with status 0", 0)),
    ],
)
def test_a_child_that_dies_is_said_so(work: Callable[[], int], ended: Ended) -> None:
    assert in_child(work, int, SECONDS) == ended


def test_what_a_child_raises_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_child(lambda: 1 // 0, int, SECONDS) == Ended("exited with status 1", 1)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_child_that_hangs_is_killed_also_behind_a_closed_pipe() -> None:
    def deaf() -> int:
        os.closerange(3, 1 << 10)
        return forever()

    for work in (forever, deaf):
        assert in_child(work, int, 0.1) == Ended("did not come to an end within 0.1 s")


def test_a_process_that_a_child_leaves_behind_holds_nobody_up() -> None:
    reading, writing = os.pipe()

    def leave() -> int:
        if os.fork() == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        return 5

    assert in_child(leave, int, SECONDS) == 5
    os.close(reading)
    os.close(writing)


def test_who_interrupts_a_child_interrupts_the_work_that_it_is_for() -> None:
    with pytest.raises(KeyboardInterrupt):
        in_child(lambda: signal.raise_signal(signal.SIGINT), type(None), SECONDS)


def test_work_in_children_is_told_apart_by_its_place() -> None:
    works = [lambda: 3, lambda: os._exit(5), lambda: 4]
    assert dict(in_children(works, int, SECONDS, 2)) == {0: 3, 1: Ended("exited with status 5", 5), 2: 4}


def test_work_that_nobody_waits_for_any_more_is_ended() -> None:
    """An interrupt leaves no process behind, which is what closing the iterator stands for."""
    reading, writing = os.pipe()
    works = in_children([lambda: 3, forever], int, SECONDS, 2)
    assert next(works) == (0, 3)
    works.close()  # type: ignore[attr-defined]
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_a_child_ends_with_its_parent() -> None:
    """A killed command left the rules of a vendor at work for ever."""
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        in_child(lambda: os.write(writing, b"x") and forever(), int, SECONDS)
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert select.select([reading], [], [], SECONDS)[0]  # the last who had it open is gone
    assert os.read(reading, 1) == b""
    os.close(reading)


AUTOGROUP = Path("/proc/self/autogroup")


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel has no autogroups")
@pytest.mark.parametrize("nice", [0, 5])
def test_a_new_session_gives_way_to_others_as_its_process_does(nice: int) -> None:
    def in_session() -> str:
        os.setsid()
        os.nice(nice)
        keep_nice()
        return AUTOGROUP.read_text()

    assert str(in_child(in_session, str, 30.0)).endswith(f" nice {nice}\n")
