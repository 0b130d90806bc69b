"""Runs work in forks of this process, to which its changes, crashes and hangs are confined."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NoReturn, TypeVar

import msgspec

from npu_conformance.specs.diagnostics.signal_name import how_it_ended

Answer = TypeVar("Answer")
_PIPE_READ = 1 << 16
_INTERRUPTED = 130
"""The exit code of a child that was interrupted: that is no answer, but the end of the parent's work, too."""
_PR_SET_PDEATHSIG = 1


class Ended(msgspec.Struct, frozen=True):
    """A child that gave no answer. reason: what it did instead. code: as of subprocess; None where it had no end."""

    reason: str
    code: int | None = None


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
    running: dict[_Worker, int] = {}
    try:
        while True:
            for index, work in islice(waiting, at_once - len(running)):
                running[_Worker(work, seconds)] = index
            if not running:
                return
            for worker in _over(running):
                yield running.pop(worker), worker.answer(kind)
    finally:
        for worker in running:
            worker.child.end()


class Child:
    """A fork that writes into a pipe and ends, with 0 where `write` returned. It does not outlive this process.

    reading: the end of the pipe that stays here.
    """

    def __init__(self, write: Callable[[int], None]) -> None:
        self.reading, writing = os.pipe()
        sys.stdout.flush()  # what is buffered is not the child's to print
        parent = os.getpid()
        with warnings.catch_warnings():
            # Other threads, which Python 3.12 warns of, are idle, and the child uses none of what they hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reading)
            _become(write, writing, parent)
        os.close(writing)

    def end(self) -> int:
        """Make sure that the child has ended; return its exit code, as of subprocess."""
        os.close(self.reading)
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.kill(self.pid, signal.SIGKILL)  # passed over where it is about to end by itself
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def write_all(writing: int, data: bytes) -> None:
    """Write into a pipe, however much goes into it at once."""
    left = memoryview(data)
    while left:
        left = left[os.write(writing, left) :]


def end_with_parent() -> None:
    """Let this process be killed when the thread that started it ends."""
    process_control(_PR_SET_PDEATHSIG, signal.SIGKILL)


def ends_with(parent: int) -> bool:
    """The same; False where the process that started it, `parent`, has died before."""
    end_with_parent()
    return os.getppid() == parent


def keep_nice() -> None:
    """Let a new session give way to others as its process does, which was begun with `nice`.

    Linux shares processors among sessions first, and a new one has the weight of any (autogroups, sched(7)).
    """
    nice = os.nice(0)
    if nice > 0:
        with suppress(OSError), open("/proc/self/autogroup", "w") as autogroup:  # not every kernel has them
            autogroup.write(str(nice))


def process_control(option: int, value: int) -> None:
    """Call prctl(2) of this process."""
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _over(workers: Iterable[_Worker]) -> list[_Worker]:
    """Wait until one or more have ended, or have no time left."""
    while True:
        poll = select.poll()  # not select(): it knows no descriptors beyond 1023
        for worker in workers:
            worker.register(poll)
        left = min(worker.deadline for worker in workers) - time.monotonic()
        ready = {descriptor for descriptor, _ in poll.poll(max(left, 0.0) * 1000)}
        if over := [worker for worker in workers if worker.is_over(ready)]:
            return over


class _Worker:
    """A child that answers. deadline: of time.monotonic.

    It is over when its process is: who closes its pipe may go on, and who has it open may be a process left behind.
    """

    def __init__(self, work: Callable[[], Any], seconds: float) -> None:
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.child = Child(lambda writing: write_all(writing, msgspec.json.encode(work())))
        self._process = os.pidfd_open(self.child.pid)
        self._data = bytearray()
        self._is_open, self._has_ended = True, False

    def register(self, poll: select.poll) -> None:
        poll.register(self._process, select.POLLIN)
        if self._is_open:
            poll.register(self.child.reading, select.POLLIN)

    def is_over(self, ready: set[int]) -> bool:
        """Take in what is there; true where it has ended or has no time left."""
        if self._process in ready:
            self._has_ended = True
            os.set_blocking(self.child.reading, False)
            with suppress(BlockingIOError):
                while self._read():
                    pass
        elif self.child.reading in ready:
            self._is_open = self._read()
        return self._has_ended or time.monotonic() >= self.deadline

    def _read(self) -> bool:
        block = os.read(self.child.reading, _PIPE_READ)
        self._data += block
        return block != b""

    def answer(self, kind: type[Answer]) -> Answer | Ended:
        os.close(self._process)
        code = self.child.end()
        if not self._has_ended:
            return Ended(f"did not come to an end within {self.seconds:g} s")
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        if code or not self._data:
            return Ended(how_it_ended(code), code)
        return msgspec.json.decode(bytes(self._data), type=kind)


def _become(write: Callable[[int], None], writing: int, parent: int) -> NoReturn:
    """Nothing of the parent's, like its open files or exit handlers, may run twice."""
    code = 1
    try:
        threading.excepthook = lambda _: None  # what the threads of the work raise is part of it
        if ends_with(parent):
            write(writing)
            code = 0
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
