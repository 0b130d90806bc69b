"""The process of a part of a round: it is watched, and killed where an input takes too long, or the time is over."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib import instrumented
from npu_conformance.fuzz.lib.attack import CURRENT
from npu_conformance.fuzz.lib.campaign import deaths
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Start
from npu_conformance.fuzz.lib.campaign.noting import Noting
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.reducing import AFTER_A_HANG, knows_hangs
from npu_conformance.fuzz.lib.worker import JOB, START
from npu_conformance.harness.python_processes import environment, python
from npu_conformance.harness.subject.process_group import end_group, has_ended
from npu_conformance.harness.wire.starvation import starved
from npu_conformance.specs import documents

_START_SECONDS = 300.0
"""How long loading may take; instrumented imports are slow."""
_POLL_SECONDS = 0.05
_LAST_WORDS_SECONDS = 10.0
_LAUNCHER = """import sys
from contextlib import nullcontext as instrumented
{instrument}
with instrumented():
    from npu_conformance.specs.forked import ends_with, keep_nice
    from npu_conformance.fuzz.lib.{module} import main
    keep_nice()
    sys.exit(main(sys.argv[1]) if ends_with({parent}) else 0)
"""
_INSTRUMENT = """import atheris
def instrumented():
    return atheris.instrument_imports(include={packages!r}, enable_loader_override=False)
"""


class Stopped(Exception):
    """The campaign ends before the round does."""


@dataclass(eq=False)
class Watch:
    """What the processes of a round have in common.

    stop: ends the round, and loses what it has not told by then. seconds: from the first input on until the round ends
    with what it has; None for no end. before: inputs that earlier processes have run.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    under_way: UnderWay = field(default_factory=UnderWay)
    seconds: float | None = None
    before: int = 0
    _ends: float | None = None

    def ran(self, count: int) -> None:
        """The process that runs now has begun so many inputs; with the first one of all the time begins."""
        if self._ends is None and count:
            self.begin()
        if self.before + count:
            self.under_way.ran(self, self.before + count)

    def informed(self, job: RoundJob) -> RoundJob:
        """The job with what other rounds have found since it was given."""
        return replace(job, known=(*job.known, *self.under_way.deaths.difference(job.known)))

    def begin(self) -> None:
        """The time begins."""
        if self.seconds is not None:
            self._ends = time.monotonic() + self.seconds

    @property
    def left(self) -> float | None:
        """Seconds until the round ends; None for no end."""
        return self.seconds if self._ends is None else self._ends - time.monotonic()

    @property
    def is_over(self) -> bool:
        """True where the time is over."""
        return self.left is not None and self.left <= 0


class RoundProcess:
    """The process of a part of a round. is_cut: whether it was killed as the time was over, which is nobody's fault."""

    def __init__(
        self, job: RoundJob, folder: Path, watch: Watch, noting: Noting | None = None, module: str = "worker"
    ) -> None:
        self.current = CurrentInput(folder / CURRENT)
        self.is_hanging = self.is_cut = False
        self.returncode = 0
        self.seconds = self.start_seconds = 0.0
        self._folder, self._job, self._watch = folder, job, watch
        self._noting = noting or Noting(job, folder, None)
        self._has_inputs = module == "worker"  # one without any yet has not said what it attacks
        (folder / JOB).write_bytes(msgspec.json.encode(job))
        self._launcher = folder / "fuzzer"
        self._launcher.write_text(_launcher(job, module))

    def watch(self) -> None:
        """Run the process to its end, or kill it where one input takes too long."""
        began = time.monotonic()
        with (self._folder / deaths.OUTPUT).open("wb") as output:
            process = subprocess.Popen(
                python(str(self._launcher), str(self._folder / JOB)),
                env={**environment(), "TMPDIR": str(self._folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            first = self._wait(process, began)
            if self.is_hanging:
                _make_it_tell(process)
        finally:
            self._watch.under_way.note(self, "")
            self.returncode = end_group(process)
        self.start_seconds, self.seconds = first - began, time.monotonic() - first

    def ending(self) -> Ending | None:
        """How it came to its end; None where it died, whatever its status."""
        if self.is_cut:
            return Ending.OVER
        is_over = self._job.engine == "atheris" and b"\nDone " in (self._folder / deaths.OUTPUT).read_bytes()
        return Ending.OVER if is_over and self.returncode == Ending.OVER else self.current.ending(self.returncode)

    def _wait(self, process: subprocess.Popen[bytes], now: float) -> float:
        """Wait for the end; returns when the first input was begun.

        What counts is the time that the machine gave the process, or that it slept: a busy machine makes no hang. Many
        waits of the harness make none, either, such as for an answer after each refusal.
        """
        first, count, since, steps = now, 0, now, 0
        while not has_ended(process, _POLL_SECONDS):
            now, latest = time.monotonic() - starved(process.pid), self.current.read()[0]
            self._tell(latest)
            if self._watch.stop.is_set():
                raise Stopped
            if self._watch.is_over and (latest or not self._has_inputs):
                self.is_cut = True
                return first
            if count == 0:
                first = time.monotonic()
            if (latest, self.current.steps()) != (count, steps):
                count, since, steps = latest, now, self.current.steps()
            elif now - since > self._patience(count):
                self.is_hanging = count > 0
                return first
        return first

    def _tell(self, count: int) -> None:
        """Tell what it does: how many inputs it has begun, what it has found, and makes smaller."""
        kind = self.current.minimised()
        self._watch.under_way.note(self, f"{kind} in {self._job.fuzzer}" if kind else "")
        self._watch.ran(count)
        self._noting.look()

    def _patience(self, count: int) -> float:
        if not count:
            return _START_SECONDS
        start = documents.read(self._folder / START, Start)
        if not knows_hangs(self._watch.informed(self._job)):
            return start.seconds
        return min(start.seconds, AFTER_A_HANG * start.manifest.time_scale)


def _make_it_tell(process: subprocess.Popen[bytes]) -> None:
    """Let a hanging process write where it is: faulthandler does so as it dies of this signal."""
    process.send_signal(signal.SIGABRT)
    has_ended(process, _LAST_WORDS_SECONDS)  # one that is deaf to it is killed next


def _launcher(job: RoundJob, module: str) -> str:
    plugin = job.plugin.partition(":")[0].partition(".")[0] if ":" in job.plugin else ""
    packages = [
        *(f"npu_conformance.{name}" for name in instrumented.PACKAGES),
        *([plugin] if plugin not in ("", "npu_conformance") else []),
    ]
    instrument = _INSTRUMENT.format(packages=packages) if job.engine == "atheris" else ""
    return _LAUNCHER.format(instrument=instrument, module=module, parent=os.getpid())
