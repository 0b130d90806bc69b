"""Runs client processes side by side and tells their ends apart: SUCCESS, FAILURE, HANG, CRASH (ML-CRS-001, -002).

A client writes to a pipe of its own, so that nothing that an implementation prints can be taken for its lines. However
this ends, no client outlives it: each leads a process group that is killed, and dies by itself when its input ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from npu_conformance.harness.python_processes import python
from npu_conformance.harness.subject.process_group import end_group, has_ended
from npu_conformance.mlts.lib.reports import GO, STOP, Line, Moment, Plan, Report, Verdict
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.diagnostics.signal_name import signal_name

WORKER = tuple(python("-m", "npu_conformance.mlts.lib.worker"))
"""The client program. Its one argument, which is appended, is the descriptor of the pipe to report on."""
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 20
_STDERR_BYTES = 4000
Observe = Callable[[int], object]
"""Called now and then while clients run, with the rounds that all of them have done."""


@dataclass(frozen=True)
class Patience:
    """Seconds of silence after which a client counts as hung: before its first word, and between two words."""

    start: float
    step: float


@dataclass(frozen=True)
class ClientEnd:
    """How one client ended. signal: what killed it, 0 where nothing did. stderr: its last words.

    measured: numbers that it reported, by name. lacking: why one that did nothing wrong could not go on.
    moments: what it told of the NPU. at: when nothing more was heard of it, on time.monotonic().
    """

    verdict: Verdict
    rounds: int
    message: str = ""
    signal: int = 0
    stderr: str = ""
    measured: dict[str, float] = field(default_factory=dict)
    lacking: str = ""
    moments: tuple[Moment, ...] = ()
    at: float = field(default=0.0, compare=False)


class ClientProgramError(Exception):
    """The client program itself is broken: no verdict about the implementation."""


def run_clients(
    plans: Sequence[Plan],
    patience: Patience,
    command: Sequence[str] = WORKER,
    observe: Observe | None = None,
    every: float = math.inf,
) -> list[ClientEnd]:
    """Run a client for each plan, all at once, and return how each ended, in order. Raises ClientProgramError.

    observe: called when clients have made progress, and at the latest after `every` seconds.
    """
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(_Client(plan, patience, command)) for plan in plans]
        selector = stack.enter_context(selectors.DefaultSelector())
        for client in clients:
            selector.register(client.pipe, selectors.EVENT_READ, client)
        _listen(selector, clients, observe or (lambda rounds: None), every)
        return [client.end() for client in clients]


def run_here(plan: Plan, observe: Observe | None = None) -> ClientEnd:
    """Run a client in threads of this process, and return how it ended. Raises ClientProgramError.

    Of a client that dies nothing would be left to report it: the plan's must not kill itself.
    """
    from npu_conformance.mlts.lib.worker import Crew, Signals

    def say(line: Line) -> None:
        if observe is not None:
            observe(line.rounds)

    signals = Signals()
    signals.go.set()
    report = Crew(plan, say, signals).run()
    if report.defect:
        raise ClientProgramError(report.defect)
    return ended(report)


def ended(report: Report) -> ClientEnd:
    """How a client ended that has told."""
    return ClientEnd(report.verdict, report.rounds, report.message, measured=report.measured, lacking=report.lacking)


def _listen(selector: selectors.BaseSelector, clients: Sequence[_Client], observe: Observe, every: float) -> None:
    waiting = True
    while any(client.is_open for client in clients):
        if waiting and all(client.is_ready or not client.is_open for client in clients):
            waiting = False
            for client in clients:
                client.go()
        if not any(client.is_open and not client.until_stopped for client in clients):
            for client in clients:
                client.stop()
        nearest = min(client.deadline for client in clients if client.is_open)
        for key, _ in selector.select(min(every, max(0.0, nearest - time.monotonic()))):
            key.data.receive()
        observe(sum(client.rounds for client in clients))
        for client in clients:
            if client.is_open and time.monotonic() >= client.deadline:
                client.give_up()
            if not client.is_open and client.pipe in selector.get_map():
                selector.unregister(client.pipe)


class _Client:
    """One client process. is_open: it may still say something. is_ready: it waits for `go`, so that all load at once.

    deadline: when its silence is a hang, on time.monotonic(); a client that waits for the others has none.
    rounds: that it has done. until_stopped: it goes on until `stop`.
    """

    def __init__(self, plan: Plan, patience: Patience, command: Sequence[str]) -> None:
        self.is_open = True
        self.is_ready = False
        self.deadline = time.monotonic() + patience.start
        self._patience = patience
        self.until_stopped = plan.until_stopped
        self._is_going = self._is_stopped = False
        self._buffer = b""
        self.rounds = 0
        self._report: Report | None = None
        self._moments: list[Moment] = []
        self._heard = time.monotonic()
        self._silent = self._garbled = ""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._process = self._started(command)
        self._tell(documents.encode_line(plan))

    def _started(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """The client program, which reports to `pipe`."""
        self.pipe, theirs = os.pipe()
        try:
            return subprocess.Popen(
                [*command, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                bufsize=0,
                pass_fds=[theirs],
                start_new_session=True,
            )
        except BaseException:
            os.close(self.pipe)
            self._stderr.close()
            raise
        finally:
            os.close(theirs)

    def go(self) -> None:
        """Let the client begin; from here on its silence counts."""
        self._is_going = True
        self.deadline = time.monotonic() + self._patience.step
        self._tell(GO)

    def stop(self) -> None:
        """Let a client that goes on until it is stopped come to its end; once."""
        if self._is_going and self.until_stopped and not self._is_stopped:
            self._is_stopped = True
            self._tell(STOP)

    def _tell(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:  # dead already: the end of its pipe says so
            return

    def receive(self) -> None:
        """Take in what the client has written."""
        chunk = os.read(self.pipe, _CHUNK)
        self._heard = time.monotonic()
        self._buffer += chunk
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._buffer) > _LONGEST_LINE:
            self._garbled = "a line without end"
        if not chunk or self._report is not None or self._garbled:
            self.is_open = False

    def _take(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line, type=Line)
        except msgspec.DecodeError as error:
            self._garbled = f"{line[:100]!r}: {error}"
            return
        self.rounds = message.rounds
        self._moments.extend(message.moments)
        self.is_ready = True
        self.deadline = time.monotonic() + self._patience.step if self._is_going else math.inf
        if isinstance(message, Report):
            self._report = message

    def give_up(self) -> None:
        """The client has been silent for too long."""
        patience = self._patience
        seconds = patience.step if self._is_going else patience.start
        self._silent = f"silent for {seconds:g} s after {counted(self.rounds, 'round')}"
        self.is_open = False

    def end(self) -> ClientEnd:
        """What became of the client, once it is closed. A report stands, whatever the process does after it."""
        return replace(self._ended(), moments=tuple(self._moments), at=self._heard)

    def _ended(self) -> ClientEnd:
        if self._garbled:
            raise ClientProgramError(f"a client said {self._garbled}")
        if self._report is not None:
            return self._reported(self._report)
        if self._silent:
            return ClientEnd(Verdict.HANG, self.rounds, self._silent, stderr=self._last_words())
        if not has_ended(self._process, self._patience.step):
            message = f"closed its pipe after {counted(self.rounds, 'round')} and went on"
            return ClientEnd(Verdict.HANG, self.rounds, message, stderr=self._last_words())
        return self._crashed()

    def _crashed(self) -> ClientEnd:
        code = end_group(self._process)
        number = max(0, -code)
        how = f"killed by {signal_name(number)}" if number else f"exited with {code}"
        message = f"{how} without a report after {counted(self.rounds, 'round')}"
        return ClientEnd(Verdict.CRASH, self.rounds, message, number, self._last_words())

    def _reported(self, report: Report) -> ClientEnd:
        if report.defect:
            raise ClientProgramError(report.defect)
        return replace(ended(report), stderr=self._last_words())

    def _last_words(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_BYTES))
        return self._stderr.read(_STDERR_BYTES).decode(errors="replace")

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what is left of the client and its children, and close everything."""
        end_group(self._process)
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self.pipe)
        self._stderr.close()
