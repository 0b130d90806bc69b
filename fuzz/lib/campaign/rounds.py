"""Does one round in processes of its own: what dies or hangs is a finding with its input, and the round goes on."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.attack import FOUND, KEPT, TALLY
from npu_conformance.fuzz.lib.campaign import deaths
from npu_conformance.fuzz.lib.campaign.documents import EngineName, Kept, RoundJob, RoundResult, Sighting, Start, Tally
from npu_conformance.fuzz.lib.campaign.noting import Note, Noting
from npu_conformance.fuzz.lib.campaign.round_process import RoundProcess, Watch
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.inputs import digest
from npu_conformance.fuzz.lib.reducing import NO_HANG, knows_hangs
from npu_conformance.fuzz.lib.worker import START, is_here
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.private_directory import temporary_folder
from npu_conformance.specs import documents
from npu_conformance.specs.installing import pip_install

Line = TypeVar("Line")

_LEAST_SECONDS = 1.0
"""A round that has less left than this, after a crash, is over."""


def has_atheris() -> bool:
    """True where Atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def run_round(
    job: RoundJob,
    stop: threading.Event | None = None,
    under_way: UnderWay | None = None,
    note: Note | None = None,
) -> RoundResult:
    """Do a job. Raises LoadError where the fuzzer cannot start, Stopped where it is told to end.

    under_way: is told what it is doing. note: is told of findings while the round goes on.
    """
    if job.engine == "atheris" and not has_atheris():
        raise LoadError(f"engine atheris: it is not installed; {pip_install('fuzz')}, or take another")
    watch = Watch(stop or threading.Event(), under_way or UnderWay(), job.ends)
    try:
        return _parts(job, watch, note)
    finally:
        watch.under_way.ran(watch, 0)


def _parts(job: RoundJob, watch: Watch, note: Note | None) -> RoundResult:
    """A process for each part, which ends with the job or with what ends the process."""
    parts: list[_Part] = []
    left: RoundJob | None = job
    while left is not None:
        with temporary_folder() as folder:
            part = _Part.of(left, folder, watch, Noting(replace(left, seed=job.seed), folder, note))
        parts.append(part)
        seeds_run = left.seeds_run_after(part.tally.tried)
        left = None if watch.is_over else _rest(left, part)
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
        known=(*job.known, *(sighting.signature for sighting in part.sightings), *part.elsewhere),
        doubted={name: doubt for name, doubt in job.doubted.items() if name not in part.met},
        skip=(*job.skip, *part.killers),
    )


def _whole(job: RoundJob, parts: list[_Part]) -> RoundResult:
    sightings, repeats = _met(job, parts)
    return RoundResult(
        fuzzer=job.fuzzer,
        engine=job.engine,
        executions=sum(part.executions for part in parts),
        seconds=sum(part.seconds for part in parts),
        start_seconds=sum(part.start_seconds for part in parts),
        reducing_seconds=sum(part.reducing_seconds for part in parts),
        kept=tuple(kept for part in parts for kept in part.kept),
        sightings=sightings,
        repeats=dict(repeats),
        inapplicable=parts[-1].tally.inapplicable,
        start=parts[0].start,
        killers=tuple(name for part in parts for name in part.killers),
        problem=parts[-1].problem,
    )


def _met(job: RoundJob, parts: list[_Part]) -> tuple[tuple[Sighting, ...], Counter[str]]:
    """What is new, each after so many seconds of the whole round; and how often what was known by then came again."""
    known = set(job.known)
    new: list[Sighting] = []
    repeats: Counter[str] = Counter()
    before = 0.0
    for part in parts:
        for sighting in part.sightings:
            if sighting.signature in known and not sighting.is_another:
                repeats[sighting.signature] += 1
            else:
                new.append(replace(sighting, after=before + part.start_seconds + sighting.after))
                known.add(sighting.signature)
        repeats.update(part.tally.repeats)
        repeats.update(part.elsewhere)
        before += part.start_seconds + part.seconds + part.reducing_seconds
    return tuple(new), repeats


@dataclass(frozen=True)
class _Part:
    """What one process of a round came to. killers: the digest of the input that ended it, if one did.

    elsewhere: the signature of how it ended, where another round is making that smaller.
    """

    executions: int
    seconds: float
    start_seconds: float
    reducing_seconds: float
    kept: tuple[Kept, ...]
    sightings: tuple[Sighting, ...]
    tally: Tally
    start: Start
    killers: tuple[str, ...]
    elsewhere: tuple[str, ...]
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
    def of(cls, job: RoundJob, folder: Path, watch: Watch, noting: Noting) -> _Part:
        """Run the fuzzer's process, and read what it left behind."""
        process = RoundProcess(job, folder, watch, noting)
        process.watch()
        noting.look()
        executions, data = process.current.read()
        watch.before += executions
        ending = process.ending()
        if (ending == Ending.UNLOADED and not executions) or not (folder / START).exists():
            raise LoadError(deaths.printed_last(folder) or deaths.at_start(job.plugin, process.returncode))
        found = list({sighting.signature: sighting for sighting in _lines(folder / FOUND, Sighting)}.values())
        began = time.monotonic()
        end = _End() if ending is not None else _end(job, folder, process, watch, noting)
        process.current.close()
        return cls(
            executions=executions,
            seconds=process.seconds,
            start_seconds=process.start_seconds,
            reducing_seconds=time.monotonic() - began,
            kept=tuple(_kept(folder)),
            sightings=(*found, *end.sightings),
            tally=documents.read(folder / TALLY, Tally) if (folder / TALLY).exists() else Tally(),
            start=documents.read(folder / START, Start),
            killers=(digest(data),) if end.is_sure and ending is None else (),
            elsewhere=end.elsewhere,
            problem=deaths.printed_last(folder) if ending in (Ending.FULL, Ending.UNLOADED) else "",
        )


@dataclass(frozen=True)
class _End:
    """How a process died. is_sure: False where the time was over before it was known whether that was a hang."""

    sightings: tuple[Sighting, ...] = ()
    elsewhere: tuple[str, ...] = ()
    is_sure: bool = True


def _end(job: RoundJob, folder: Path, process: RoundProcess, watch: Watch, noting: Noting) -> _End:
    """The death of a process as a finding, made smaller: that takes long, so that one round does it for each place."""
    executions, data = process.current.read()
    hanging_seconds = documents.read(folder / START, Start).seconds if process.is_hanging else 0
    death = deaths.sighting(folder, process.returncode, data, executions, hanging_seconds)
    what = f"{death.kind} in {job.fuzzer} ({death.where})"
    if what in watch.under_way.now() or death.signature in watch.under_way.deaths:
        return _End(elsewhere=(death.signature,))
    job = watch.informed(job)
    if death.kind != "hang" or not knows_hangs(job):  # else it had a short time only
        noting.tell(death)
    with watch.under_way.of(what):
        smaller = _reduced(replace(job, ends=watch.left), death, watch)
    if smaller is None:
        return _End(is_sure=not watch.is_over)
    watch.under_way.deaths.add(death.signature)
    found = replace(smaller, after=process.seconds)
    noting.tell(found)
    return _End((found,))


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


def _reduced(job: RoundJob, death: Sighting, watch: Watch) -> Sighting | None:
    """The finding with a smaller input that kills in the same way, looked for in forks of a process of its own.

    None where it was no hang, given the time, or where the time is over before that is known.
    """
    doubt = job.doubted.get(death.signature)
    is_known = death.signature in job.known and (doubt is None or doubt.data == death.data)
    if is_known or not is_here(job):
        return death
    with temporary_folder() as folder:
        (folder / deaths.DEATH).write_bytes(msgspec.json.encode(death))
        plain: EngineName = "hypothesis"
        process = RoundProcess(replace(job, engine=plain, inputs=()), folder, watch, module="reducing")
        process.watch()
        process.current.close()
        if (folder / NO_HANG).exists() or (process.is_cut and death.kind == "hang" and knows_hangs(job)):
            return None
        return next(_lines(folder / FOUND, Sighting), death)


Round = Callable[[RoundJob], RoundResult]
"""What does a round: here, or on another machine."""
