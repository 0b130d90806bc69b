"""The processes of a shared NPU: one that has the driver and the manager, and one for each app."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npu_conformance.harness.python_processes import python
from npu_conformance.harness.subject.process_group import end_group
from npu_conformance.simulation.demo.reports import AppEvent, AppPlan, Kind
from npu_conformance.specs import documents

_CHUNK = 1 << 16


class GoneError(Exception):
    """A process has ended early, or has not reported in time what was waited for. The text is one line."""


class _Process:
    """A process with a session of its own, which ends with all that it has started."""

    def __init__(self, words: Sequence[str], stdin: int) -> None:
        self._process = subprocess.Popen(
            python("-m", *words), stdin=stdin, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor of its output."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def kill(self) -> None:
        """Kill it with signal 9, and wait until it is gone."""
        end_group(self._process)

    def close(self) -> None:
        """End it and close its pipes."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class AppProcess(_Process):
    """The process of one app. events: its reports so far; of inferences only the last number is kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.events = list[AppEvent]()
        self.is_open = True
        self.inferences = 0
        self._buffer = b""
        super().__init__(["npu_conformance.simulation.demo.app"], subprocess.PIPE)

    def has(self, kind: Kind, status: int | None = None) -> bool:
        """True where it has reported such an event."""
        return any(event.kind is kind and event.status == status for event in self.events)

    def start(self, plan: AppPlan) -> None:
        """Send it its plan."""
        self.send(documents.encode_line(plan))

    def send(self, line: bytes) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which shows when its output is read
            self._process.stdin.write(line)

    def receive(self) -> list[AppEvent]:
        """Read what it has reported, after its descriptor became readable."""
        chunk = os.read(self.fileno(), _CHUNK)
        self.is_open = bool(chunk)
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        events = [msgspec.json.decode(line, type=AppEvent) for line in lines]
        self.inferences = next((event.number for event in reversed(events) if event.number), self.inferences)
        self.events += [event for event in events if event.kind is not Kind.INFERENCE]
        return events

    def hang(self) -> None:
        """Stop it: it stays alive, and does nothing any more."""
        os.killpg(self._process.pid, signal.SIGSTOP)


class ManagerProcess(_Process):
    """A process that serves a plug-in with a manager. address: where it listens."""

    def __init__(self, plugin: str, address: str, options: Sequence[str], seconds: float) -> None:
        words = [word for option in options for word in ("--plugin-option", option)]
        super().__init__(
            ["npu_conformance.harness.subject.serve", plugin, "--listen", address, "--end-with-parent", *words],
            subprocess.DEVNULL,
        )
        ready = select.select([self], [], [], seconds)[0]
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().decode().strip() if ready else ""
        if not self.address:
            self.close()
            why = "has ended before it listened" if ready else f"did not listen within {seconds:g} s"
            raise GoneError(f"plug-in {plugin}: its process {why}")


def listen(
    step: str,
    apps: Sequence[AppProcess],
    until: Callable[[], bool],
    seconds: float,
    receive: Callable[[AppProcess, AppEvent], None],
) -> None:
    """Follow the apps until a condition holds. Raises GoneError where it does not in time, or an app failed or died.

    step: what is waited for, in words.
    """
    deadline = time.monotonic() + seconds
    while not until():
        readable = select.select([app for app in apps if app.is_open], [], [], max(0.0, deadline - time.monotonic()))[0]
        if not readable or time.monotonic() > deadline:
            raise GoneError(f"waited {seconds:g} s without success: {step}")
        received = [(app, event) for app in readable for event in app.receive()]
        for app, event in sorted(received, key=lambda each: each[1].time_ns):
            receive(app, event)
        for app in readable:
            if not app.is_open and not app.has(Kind.ENDED):
                raise GoneError(f"{app.name} died: {_last_message(app)}")


def _last_message(app: AppProcess) -> str:
    return next((event.message for event in reversed(app.events) if event.message), "without a word")


@contextlib.contextmanager
def apps(*names: str) -> Iterator[list[AppProcess]]:
    """App processes, ended on every way out."""
    with contextlib.ExitStack() as stack:
        started = []
        for name in names:
            process = AppProcess(name)
            stack.callback(process.close)
            started.append(process)
        yield started
