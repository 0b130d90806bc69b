"""Runs work in forked children, to which its changes, crashes and hangs are confined."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

Answer = TypeVar("Answer")
_PIPE_READ = 1 << 16
_INTERRUPTED = 130
"""The exit code of a child that was interrupted: that is no answer, but the end of the parent's work, too."""


@dataclass(frozen=True)
class Ended:
    """A child that gave no answer. reason: in words."""

    reason: str


def in_child(work: Callable[[], Answer], kind: type[Answer], seconds: float) -> Answer | Ended:
    """Run `work` in a fork of this process and return its answer (JSON-able, of this kind).

    Ended where the child died, or needed more than `seconds` and was killed. Raises KeyboardInterrupt where somebody
    interrupted it.
    """
    (_, answer), *_ = in_children([work], kind, seconds, 1)
    return answer


def in_children(
    works: Iterable[Callable[[], Answer]], kind: type[Answer], seconds: float, at_once: int
) -> Iterator[tuple[int, Answer | Ended]]:
    """Run each of `works` so, `at_once` of them in parallel: yield its place and answer, in order of ending."""
    waiting = iter(enumerate(works))
    running: dict[int, tuple[int, _Child]] = {}
    try:
        while True:
            for index, work in waiting:
                child = _Child(work, seconds)
                running[child.reading] = (index, child)
                if len(running) == at_once:
                    break
            if not running:
                return
            for reading in _ready([child for _, child in running.values()]):
                index, child = running.pop(reading)
                yield index, child.answer(kind)
    finally:
        for _, child in running.values():
            child.end()


def _ready(children: list[_Child]) -> list[int]:
    """Wait until one or more are done: they closed their pipe, or have no time left."""
    while True:
        left = min(child.deadline for child in children) - time.monotonic()
        readable, _, _ = select.select([child.reading for child in children], [], [], max(left, 0.0))
        done = [child.reading for child in children if child.reading in readable and child.read()]
        late = [child.reading for child in children if child.reading not in readable and child.is_late()]
        if done or late:
            return done + late


class _Child:
    """A fork that works. reading: the end of the pipe on which its answer comes. deadline: of time.monotonic."""

    def __init__(self, work: Callable[[], Any], seconds: float) -> None:
        self.reading, writing = os.pipe()
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self._data = bytearray()
        self._is_whole = False
        with warnings.catch_warnings():
            # numpy's threads are idle, and the child uses none of what they hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            os.close(self.reading)
            _serve(work, writing)
        os.close(writing)

    def read(self) -> bool:
        """Take in what is there; true at the end."""
        block = os.read(self.reading, _PIPE_READ)
        self._data += block
        self._is_whole = not block
        return self._is_whole

    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    def end(self) -> int:
        """Make sure that the child has ended; return its status."""
        os.close(self.reading)
        if os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.kill(self._pid, signal.SIGKILL)
        return os.waitpid(self._pid, 0)[1]

    def answer(self, kind: type[Answer]) -> Answer | Ended:
        status = self.end()
        if os.waitstatus_to_exitcode(status) == _INTERRUPTED:
            raise KeyboardInterrupt
        if not self._is_whole:
            return Ended(f"no end within {self.seconds:g} s")
        if not self._data:
            return Ended(f"died with {_spell(status)}")
        return msgspec.json.decode(bytes(self._data), type=kind)


def _serve(work: Callable[[], Any], writing: int) -> None:
    """Serve, and never return: nothing of the parent's, like its open files or exit handlers, may run twice."""
    code = 1
    threading.excepthook = lambda _: None  # exceptions in the threads of a fault are part of the fault
    try:
        data = memoryview(msgspec.json.encode(work()))
        while data:
            data = data[os.write(writing, data) :]
        code = 0
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _spell(status: int) -> str:
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
