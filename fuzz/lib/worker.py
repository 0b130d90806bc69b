"""The process of a round: loads the plug-in into itself, and lets an engine choose inputs until the round is over.

Its exit status is an Ending, noted beforehand. It may also die: see campaign/rounds.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from npu_conformance.fuzz.lib.attack import CURRENT, Attack, FullError, ending_of, leave_out
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Start
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.memory_limit import MEMORY_LIMIT
from npu_conformance.fuzz.lib.native_coverage import NativeCoverage
from npu_conformance.fuzz.lib.target import Attacked, Fuzzer, Target, fuzzer_named
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.endpoints import Handling
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.host import limit_memory
from npu_conformance.harness.subject.inprocess import InProcessSubject
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.harness.subject.plugin_loading import is_elsewhere
from npu_conformance.harness.subject.plugin_options import require_instances, require_options
from npu_conformance.specs import documents, versions
from npu_conformance.specs.documents.storing import write_whole
from npu_conformance.specs.manifest import Manifest

JOB, START, STACK, COVERAGE = "job.json", "start.json", "stack", "coverage"
"""Files of a round's folder."""
_LONGEST_INPUT = 10.0
"""Seconds, times the time_scale, that an input of what is loaded may take: its models are small. An engine's manifest
may allow minutes for large ones, and each hang would cost them several times."""
_MORE = 1.2
"""So many times as long, so that a wait of the harness's own for a call ends before, and names the call."""


def main(job_file: str) -> Ending:
    """Do the job of a file; returns the exit status."""
    folder = Path(job_file).parent
    job = documents.read(Path(job_file), RoundJob)
    coverage = NativeCoverage(folder / COVERAGE)
    with (folder / STACK).open("w") as stack, contextlib.ExitStack() as opened:
        faulthandler.enable(stack)
        ending = _ending(job, folder, coverage, opened)
        CurrentInput(folder / CURRENT).end(ending)
    return ending


def _ending(job: RoundJob, folder: Path, coverage: NativeCoverage, opened: contextlib.ExitStack) -> Ending:
    """Do the job, and say how it ended. opened: gets what is to be closed."""
    try:
        fuzzer = fuzzer_named(job.fuzzer)
        attacked = attacked_by(job)
        for subject in attacked.subjects:
            opened.callback(subject.close)
            _tell_of_waits(subject, CurrentInput(folder / CURRENT))
        _announce(job, folder, attacked.subject)
        limit_memory(MEMORY_LIMIT)
        try:
            target = target_of(fuzzer, attacked)
        except NotApplicable as error:
            leave_out(folder, str(error))
            return Ending.OVER
        _search(job, folder, attacked, target, coverage)
    except (FullError, Exception) as error:
        return ending_of(error, folder)
    return Ending.OVER


def _tell_of_waits(subject: SubjectHandle, current: CurrentInput) -> None:
    """Let a wait of the harness for what is loaded count as none of the time that its calls take."""
    if not isinstance(subject, InProcessSubject):
        return
    wait = subject.wait_until

    def wait_until(predicate: Callable[[], bool], seconds: float) -> bool:
        try:
            return wait(predicate, seconds)
        finally:
            current.step()

    subject.wait_until = wait_until  # type: ignore[method-assign]


def target_of(fuzzer: Fuzzer, attacked: Attacked) -> Target:
    """Raises NotApplicable where the plug-in has nothing that the fuzzer could attack."""
    if fuzzer.needs is not None and getattr(attacked.subject.interfaces, fuzzer.needs) is None:
        raise NotApplicable(f"the plug-in has no {fuzzer.needs}")
    return fuzzer.target(attacked)


def is_here(job: RoundJob) -> bool:
    """Whether what is attacked is loaded into the process of the round."""
    return bool(job.plugin) and not is_elsewhere(job.plugin)


def patience(job: RoundJob, manifest: Manifest) -> float:
    """Seconds after which one input counts as a hang: it may prepare, execute, and ask besides.

    What the deadlines of a manifest allow is for any model. Where calls have a deadline of their own, which ends them
    elsewhere, no more is said here; of what is loaded an input has as long as small models need, or --longest-wait.
    """
    deadlines, scale = manifest.deadlines, manifest.time_scale
    whole = (deadlines.call + deadlines.prepare + deadlines.execute) * scale
    if not is_here(job):
        return whole
    return min(whole, _MORE * (_LONGEST_INPUT * scale if job.longest_wait is None else job.longest_wait))


def opened(plugin: str, options: dict[str, str], hal: str | None, longest_wait: float | None = None) -> SubjectHandle:
    """A subject of this process where that is possible, which is faster and can be guided by coverage."""
    isolation: Isolation = "process" if is_elsewhere(plugin) else "inprocess"
    version = versions.parse(hal) if hal else None
    return open_subject(plugin, options, isolation, version=version, handling=Handling(longest_wait=longest_wait))


def attacked_by(job: RoundJob) -> Attacked:
    """What is attacked. Raises LoadError where that cannot be had."""
    subject = opened(job.plugin, job.options, job.hal, job.longest_wait)
    require_options(subject.manifest, job.plugin, job.options)
    require_instances(subject.manifest, job.plugin, job.at_once)
    beside = opened(job.beside, job.beside_options, None, job.longest_wait) if job.beside else None
    return Attacked(subject, job.plugin, job.options, beside)


def _announce(job: RoundJob, folder: Path, subject: SubjectHandle) -> None:
    start = Start(hal_version=subject.version, seconds=patience(job, subject.manifest), manifest=subject.manifest)
    write_whole(folder / START, msgspec.json.encode(start))


def _search(job: RoundJob, folder: Path, attacked: Attacked, target: Target, coverage: NativeCoverage) -> None:
    def other(name: str) -> Target:
        return target_of(fuzzer_named(name), attacked)

    subject = attacked.subject
    leave_to_the_end()
    attack = Attack(job, target, folder, attacked.restart, lambda: subject.process() or os.getpid(), coverage, other)
    if not attack.is_hopeless():
        _engine(job, folder)(attack)
    attack.count()


def leave_to_the_end() -> None:
    """What is loaded stays until the process ends: the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


def _engine(job: RoundJob, folder: Path) -> Callable[[Attack], None]:
    if job.engine == "atheris":
        from npu_conformance.fuzz.lib.engines import atheris_engine

        return lambda attack: atheris_engine.search(attack, job, folder)
    if job.engine == "evolution":
        from npu_conformance.fuzz.lib.engines import evolution

        return lambda attack: evolution.search(
            attack.target,
            attack,
            seed=job.seed,
            inputs=job.inputs,
            shown=job.shown,
            seeds_run=job.seeds_run,
            runs=job.runs,
            seconds=job.seconds,
        )
    from npu_conformance.fuzz.lib.engines import hypothesis_engine

    def unguided(attack: Attack) -> None:
        attack.target.seeds = [*job.inputs, *attack.target.seeds]
        hypothesis_engine.search(attack.target, attack, seed=job.seed, runs=job.runs, seconds=job.seconds)

    return unguided
