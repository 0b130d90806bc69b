"""Does one round in processes of its own: what dies or hangs is a finding with its input, and the round goes on."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib import instrumented
from npu_conformance.fuzz.lib.attack import CURRENT, FOUND, KEPT, TALLY
from npu_conformance.fuzz.lib.campaign import deaths
from npu_conformance.fuzz.lib.campaign.documents import EngineName, Kept, RoundJob, RoundResult, Sighting, Start, Tally
from npu_conformance.fuzz.lib.campaign.minimising import Minimising
from npu_conformance.fuzz.lib.campaign.noting import Note, Noting
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.inputs import digest
from npu_conformance.fuzz.lib.reducing import NO_HANG, knows_hangs
from npu_conformance.fuzz.lib.worker import JOB, START
from npu_conformance.harness.run import commands
from npu_conformance.harness.subject.plugin_loading import LoadError, is_elsewhere
from npu_conformance.harness.subject.private_directory import temporary_folder
from npu_conformance.harness.subject.process_group import end_group, has_ended
from npu_conformance.harness.wire.starvation import starved
from npu_conformance.specs import documents
from npu_conformance.specs.installing import pip_install

Line = TypeVar("Line")

_START_SECONDS = 300.0
"""How long loading may take; instrumented imports are slow."""
_LEAST_SECONDS = 1.0
"""A round that has less left than this, after a crash, is over."""
_AFTER_A_HANG = 3.0
"""How long one input may take once a hang is known, which may come again and again: what is new is tried once more."""
_POLL_SECONDS = 0.05
_LAST_WORDS_SECONDS = 2.0
_LAUNCHER = """import sys
from contextlib import nullcontext as instrumented
{instrument}
with instrumented():
    from npu_conformance.specs.forked import ends_with
    from npu_conformance.fuzz.lib.{module} import main
    sys.exit(main(sys.argv[1]) if ends_with({parent}) else 0)
"""
_INSTRUMENT = """import atheris
def instrumented():
    return atheris.instrument_imports(include={packages!r}, enable_loader_override=False)
"""


class Stopped(Exception):
    """The campaign ends before the round does."""


def has_atheris() -> bool:
    """True where Atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def run_round(
    job: RoundJob,
    stop: threading.Event | None = None,
    minimising: Minimising | None = None,
    note: Note | None = None,
) -> RoundResult:
    """Do a job. Raises LoadError where the fuzzer cannot start, Stopped where it is told to end.

    minimising: is told which findings are being made smaller. note: is told of findings while the round goes on.
    """
    if job.engine == "atheris" and not has_atheris():
        raise LoadError(f"engine atheris: it is not installed; {pip_install('fuzz')}, or take another")
    parts: list[_Part] = []
    left: RoundJob | None = job
    while left is not None:
        with temporary_folder() as folder:
            noting = Noting(replace(left, seed=job.seed), folder, note)
            part = _Part.of(left, folder, stop or threading.Event(), minimising or Minimising(), noting)
        parts.append(part)
        seeds_run = left.seeds_run_after(part.tally.tried)
        left = _rest(left, part)
    return replace(_whole(job, parts), seeds_run=seeds_run)


def _rest(job: RoundJob, part: _Part) -> RoundJob | None:
    """What is left to do of a job whose process died; None where it came to its end, or died before its first input."""
    if part.is_done or not part.executions:
        return None
    runs = None if job.runs is None else job.runs - part.executions
    seconds = None if job.seconds is None else job.seconds - part.seconds
    if (runs is not None and runs <= 0) or (seconds is not None and seconds < _LEAST_SECONDS):
        return None
    seen = {feature for kept in part.kept for feature in kept.features}
    return replace(
        job,
        runs=runs,
        seconds=seconds,
        seed=job.seed + 1,
        inputs=(*job.inputs, *(kept.data for kept in part.kept)),
        shown=(*(job.shown or ((),) * len(job.inputs)), *(kept.features for kept in part.kept)),
        seeds_run=job.seeds_run_after(part.tally.tried),
        features=(*job.features, *seen),
        known=(*job.known, *(sighting.signature for sighting in part.sightings)),
        doubted={name: doubt for name, doubt in job.doubted.items() if name not in part.met},
        skip=(*job.skip, *part.killers),
    )


def _whole(job: RoundJob, parts: list[_Part]) -> RoundResult:
    repeats: dict[str, int] = {}
    known, sightings = set(job.known), []
    before = 0.0
    for part in parts:
        for sighting in part.sightings:
            if sighting.signature in known and not sighting.is_another:
                repeats[sighting.signature] = repeats.get(sighting.signature, 0) + 1
            else:
                sightings.append(replace(sighting, after=before + part.start_seconds + sighting.after))
                known.add(sighting.signature)
        for name, count in part.tally.repeats.items():
            repeats[name] = repeats.get(name, 0) + count
        before += part.start_seconds + part.seconds + part.reducing_seconds
    return RoundResult(
        fuzzer=job.fuzzer,
        engine=job.engine,
        executions=sum(part.executions for part in parts),
        seconds=sum(part.seconds for part in parts),
        start_seconds=sum(part.start_seconds for part in parts),
        reducing_seconds=sum(part.reducing_seconds for part in parts),
        kept=tuple(kept for part in parts for kept in part.kept),
        sightings=tuple(sightings),
        repeats=repeats,
        inapplicable=parts[-1].tally.inapplicable,
        start=parts[0].start,
        killers=tuple(name for part in parts for name in part.killers),
        problem=parts[-1].problem,
    )


@dataclass(frozen=True)
class _Part:
    """What one process of a round came to. killers: the digest of the input that ended it, if one did."""

    executions: int
    seconds: float
    start_seconds: float
    reducing_seconds: float
    kept: tuple[Kept, ...]
    sightings: tuple[Sighting, ...]
    tally: Tally
    start: Start
    killers: tuple[str, ...]
    problem: str

    @property
    def met(self) -> set[str]:
        """Signatures of what it has met, known or not."""
        return {*self.tally.repeats, *(sighting.signature for sighting in self.sightings)}

    @property
    def is_done(self) -> bool:
        """True where the round is over with it."""
        return not self.killers

    @classmethod
    def of(cls, job: RoundJob, folder: Path, stop: threading.Event, minimising: Minimising, noting: Noting) -> _Part:
        """Run the fuzzer's process, and read what it left behind."""
        process = _Process(job, folder, stop, minimising=minimising, noting=noting)
        process.watch()
        noting.look()
        executions, data = process.current.read()
        ending = process.ending()
        process.current.close()
        if (ending == Ending.UNLOADED and not executions) or not (folder / START).exists():
            raise LoadError(deaths.printed_last(folder) or deaths.at_start(job.plugin, process.returncode))
        found = list({sighting.signature: sighting for sighting in _lines(folder / FOUND, Sighting)}.values())
        ended = time.monotonic()
        if ending is None:
            seconds = documents.read(folder / START, Start).seconds
            death = deaths.sighting(folder, process.returncode, data, executions, seconds if process.is_hanging else 0)
            if death.kind != "hang":  # whether that was one is seen when it is made smaller
                noting.tell(death)
            with minimising.of(f"{death.kind} in {job.fuzzer}"):
                smaller = _reduced(job, death, stop)
            if smaller is not None:
                found.append(replace(smaller, after=process.seconds))
                noting.tell(found[-1])
        return cls(
            executions=executions,
            seconds=process.seconds,
            start_seconds=process.start_seconds,
            reducing_seconds=time.monotonic() - ended,
            kept=tuple(_kept(folder)),
            sightings=tuple(found),
            tally=documents.read(folder / TALLY, Tally) if (folder / TALLY).exists() else Tally(),
            start=documents.read(folder / START, Start),
            killers=() if ending is not None else (digest(data),),
            problem=deaths.printed_last(folder) if ending in (Ending.FULL, Ending.UNLOADED) else "",
        )


def _kept(folder: Path) -> Iterator[Kept]:
    """What the process kept: by what it saw, and what Atheris did by coverage alone."""
    from npu_conformance.fuzz.lib.engines.atheris_engine import CORPUS

    seen = set()
    for kept in _lines(folder / KEPT, Kept):
        seen.add(kept.data)
        yield kept
    for path in sorted((folder / CORPUS).glob("*")):
        data = path.read_bytes()
        if data not in seen:
            yield Kept(data=data)


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    """The lines of a file that a process wrote until it may have died: half a line at the end does not count."""
    if path.exists():
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield documents.decode(line, kind, path.name)


def _reduced(job: RoundJob, death: Sighting, stop: threading.Event) -> Sighting | None:
    """The finding with a smaller input that kills in the same way, looked for in forks of a process of its own.

    None where it was no hang, given the time.
    """
    doubt = job.doubted.get(death.signature)
    is_known = death.signature in job.known and (doubt is None or doubt.data == death.data)
    if is_known or not job.plugin or is_elsewhere(job.plugin):
        return death
    with temporary_folder() as folder:
        (folder / deaths.DEATH).write_bytes(msgspec.json.encode(death))
        plain: EngineName = "hypothesis"
        process = _Process(replace(job, engine=plain, inputs=()), folder, stop, module="reducing")
        process.watch()
        process.current.close()
        return None if (folder / NO_HANG).exists() else next(_lines(folder / FOUND, Sighting), death)


class _Process:
    """The process of a part of a round."""

    def __init__(
        self,
        job: RoundJob,
        folder: Path,
        stop: threading.Event,
        module: str = "worker",
        minimising: Minimising | None = None,
        noting: Noting | None = None,
    ) -> None:
        self.current = CurrentInput(folder / CURRENT)
        self.is_hanging = False
        self.returncode = 0
        self.seconds = self.start_seconds = 0.0
        self._folder, self._job, self._stop, self._minimising = folder, job, stop, minimising or Minimising()
        self._noting = noting or Noting(job, folder, None)
        (folder / JOB).write_bytes(msgspec.json.encode(job))
        self._launcher = folder / "fuzzer"
        self._launcher.write_text(_launcher(job, module))

    def watch(self) -> None:
        """Run the process to its end, or kill it where one input takes too long."""
        began = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": commands.import_path(), "TMPDIR": str(self._folder)}
        with (self._folder / deaths.OUTPUT).open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, str(self._launcher), str(self._folder / JOB)],
                env=environment,
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
            self._minimising.note(self, "")
            self.returncode = end_group(process)
        self.start_seconds, self.seconds = first - began, time.monotonic() - first

    def ending(self) -> Ending | None:
        """How it came to its end; None where it died, whatever its status."""
        is_over = self._job.engine == "atheris" and b"\nDone " in (self._folder / deaths.OUTPUT).read_bytes()
        return Ending.OVER if is_over and self.returncode == Ending.OVER else self.current.ending(self.returncode)

    def _wait(self, process: subprocess.Popen[bytes], now: float) -> float:
        """Wait for the end; returns when the first input was begun.

        What counts is the time that the machine gave the process, or that it slept: a busy machine makes no hang.
        """
        first, count, since = now, 0, now
        while True:
            if has_ended(process, _POLL_SECONDS):
                return first
            now, latest = time.monotonic() - starved(process.pid), self.current.read()[0]
            kind = self.current.minimised()
            self._minimising.note(self, f"{kind} in {self._job.fuzzer}" if kind else "")
            self._noting.look()
            if self._stop.is_set():
                raise Stopped
            if count == 0:
                first = time.monotonic()
            if latest != count:
                count, since = latest, now
            elif now - since > self._patience(count):
                self.is_hanging = count > 0
                return first

    def _patience(self, count: int) -> float:
        if not count:
            return _START_SECONDS
        seconds = documents.read(self._folder / START, Start).seconds
        return min(seconds, _AFTER_A_HANG) if knows_hangs(self._job) else seconds


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


Round = Callable[[RoundJob], RoundResult]
"""What does a round: here, or on another machine."""
