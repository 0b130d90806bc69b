"""The process that fuzzes: loads the plug-in into itself, lets an engine choose inputs, and stops at a finding.

Exit codes: 0 nothing found, 1 a finding in report.json, 2 the plug-in cannot be had. It may also die: see supervisor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.job import MEMORY_LIMIT, Job, Report, Start
from npu_conformance.fuzz.lib.model_target import ModelTarget
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target, failure, minimised
from npu_conformance.fuzz.lib.wire_target import WireTarget
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.host import limit_memory
from npu_conformance.harness.subject.inprocess import with_version
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin
from npu_conformance.specs import documents, versions


def main(path: str) -> int:
    """Do the job of a file; returns the exit code. With Atheris it does not return."""
    job = documents.read(Path(path), Job)
    version = versions.parse(job.hal) if job.hal else None
    try:
        subject = open_subject(job.plugin, job.options, "inprocess", version=version)
        if subject.interfaces.device is None and job.target == "models":
            raise LoadError(f"plug-in {job.plugin}: it has no device to be given models")
        target = _target(job, subject)
    except LoadError as error:
        print(error, file=sys.stderr)
        return USAGE
    deadlines = subject.manifest.deadlines
    seconds = (deadlines.call + deadlines.prepare + deadlines.execute) * subject.manifest.time_scale
    _leave(job, "start.json", Start(hal_version=subject.version.value, seconds=seconds))
    limit_memory(MEMORY_LIMIT)
    return _fuzz(job, target)


def _target(job: Job, subject: SubjectHandle) -> Target:
    if job.target == "models":
        return ModelTarget(subject)
    plugin = load_plugin(job.plugin)
    return WireTarget(plugin, with_version(plugin, job.options, subject.version), subject.version)


def _fuzz(job: Job, target: Target) -> int:
    current_input = CurrentInput(Path(job.work) / "current_input")

    def attack(data: bytes) -> None:
        current_input.begin(data[:LARGEST_INPUT])
        target.run(data[:LARGEST_INPUT])

    try:
        if job.input is not None:
            attack(job.input.data)
        elif job.engine == "atheris":
            from npu_conformance.fuzz.lib.engines import atheris_engine

            atheris_engine.search(target, _or_exit(attack, lambda: _report(job, target, current_input)), job)
        else:
            from npu_conformance.fuzz.lib.engines import hypothesis_engine

            _with_corpus(job, target)
            hypothesis_engine.search(target, attack, seed=job.seed, runs=job.runs, seconds=job.seconds)
    except CaseEnded:
        _report(job, target, current_input)
        return WRONG
    (Path(job.work) / "done").touch()
    return OK


def _with_corpus(job: Job, target: Target) -> None:
    if job.corpus is not None:
        files = sorted(path for path in Path(job.corpus).iterdir() if path.is_file())
        target.seeds = [*target.seeds, *(path.read_bytes()[:LARGEST_INPUT] for path in files)]


def _or_exit(attack: Callable[[bytes], None], report: Callable[[], None]) -> Callable[[bytes], None]:
    """As an engine needs it that cannot be left by an exception: a finding ends the process."""

    def attack_or_exit(data: bytes) -> None:
        try:
            attack(data)
        except CaseEnded:
            report()
            sys.stderr.flush()
            os._exit(WRONG)

    return attack_or_exit


def _report(job: Job, target: Target, current_input: CurrentInput) -> None:
    """Make the input small and write down what it does; a replay keeps its input as it is."""
    run, data = current_input.read()
    smallest = data if job.input is not None else minimised(_Watched(target, current_input), data)
    readable = target.readable(smallest)
    kept = readable if failure(target, readable) else smallest
    message = failure(target, kept) or "a finding that does not come back"
    _leave(job, "report.json", Report(run=run, message=message, input=lines_of(kept)))


class _Watched:
    """A target whose every run is noted in its file, so that a crash while making an input small is attributed too."""

    def __init__(self, target: Target, current_input: CurrentInput) -> None:
        self._target = target
        self._current_input = current_input
        self.name = target.name
        self.seeds = target.seeds
        self.mutate = target.mutate
        self.pieces = target.pieces
        self.readable = target.readable

    def run(self, data: bytes) -> Iterable[str]:
        """Note and run."""
        self._current_input.begin(data)
        return self._target.run(data)


def _leave(job: Job, name: str, document: documents.Document) -> None:
    path = Path(job.work) / f"{name}.new"
    path.write_bytes(msgspec.json.encode(document))
    path.replace(Path(job.work) / name)
