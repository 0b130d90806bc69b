"""`run -n N` and `--scheduler`: runs this command again, once a shard, and makes one report of what they recorded."""

from __future__ import annotations

import argparse
import contextlib
import functools
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.cli.commands._options import session_options
from npu_conformance.cli.streams import tell
from npu_conformance.harness.judge.outcome_table import SUITE_FAILED, USAGE
from npu_conformance.harness.python_processes import python
from npu_conformance.harness.report.progress import Progress
from npu_conformance.harness.report.writing import UnwritableError
from npu_conformance.harness.run import commands, shards, workers
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.commands import FOLDER, Ended
from npu_conformance.harness.run.engine import stopped_after
from npu_conformance.harness.run.events import EventLog
from npu_conformance.harness.run.folders import EVENTS, SHARDS, STOP
from npu_conformance.harness.run.interruption import Interruption
from npu_conformance.harness.run.partition import partition
from npu_conformance.harness.run.selection import of_ids
from npu_conformance.harness.run.session import Opened, Session, Summary
from npu_conformance.harness.run.tail import Tail
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.harness.subject.process_group import end_group
from npu_conformance.specs.documents.storing import write_whole
from npu_conformance.specs.forked import end_with_parent, keep_nice

_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.2
_CASES = "cases"
"""File in the folder of a shard: the ids of its cases, one a line."""


def run(
    options: argparse.Namespace, session: Session, cases: Sequence[Case], opened: Opened, progress: Progress
) -> Summary:
    """Run the cases that have no verdict yet in shards, merge what they record and conclude.

    Raises LoadError where no shard could start the plug-in.
    """
    session.close_subject()  # each shard has its own
    assert session.folder is not None
    _write_header(opened, session.folder / EVENTS)
    pending = [case for case in cases if case.id not in opened.earlier]
    interruption = Interruption()
    interruption.notice = progress.interrupt
    with interruption, _places(options) as places:
        parts = partition(pending, min(places.shards, len(pending)))
        directories = [_prepared(session.folder, number, part) for number, part in enumerate(parts, 1)]
        progress.resume(opened.earlier.values())
        tails = [Tail(directory / EVENTS) for directory in directories]

        def look() -> None:
            _show(tails, progress)
            _stop(directories, options.stop_after, progress.red)

        with contextlib.closing(progress):
            codes = places.run(options, directories, look)
            interruption.require_report()
            interruption.pass_over()
        ended = list(zip(parts, codes, directories, strict=True))
        return _merged(options, session, opened, ended, is_interrupted=interruption.has_come)


@dataclass(frozen=True)
class _Places:
    """Where shards are run. run: takes options, the shards' folders and what looks at them; returns exit codes."""

    shards: int
    run: Callable[[argparse.Namespace, Sequence[Path], Callable[[], None]], list[int]]


@contextlib.contextmanager
def _places(options: argparse.Namespace) -> Iterator[_Places]:
    if not options.scheduler:
        yield _Places(options.processes, _run_here)
        return
    with workers.cluster(options.scheduler, options.processes if options.processes > 1 else None) as found:
        yield _Places(found.jobs * workers.PARTS_A_JOB, functools.partial(_run_on, found.executor))


def _run_here(options: argparse.Namespace, directories: Sequence[Path], look: Callable[[], None]) -> list[int]:
    return run_processes([_command(options, directory) for directory in directories], look)


def _run_on(
    executor: Executor, options: argparse.Namespace, directories: Sequence[Path], look: Callable[[], None]
) -> list[int]:
    """Run shards elsewhere. Their folders have the same places in a report folder there; what is in it comes back."""
    if not directories:  # a complete run, resumed
        return []
    report = directories[0].parents[1]
    running = {}
    for directory in directories:
        place = directory.relative_to(report).as_posix()
        words = tuple(_command(options, Path(FOLDER, place)))
        given = {f"{place}/{_CASES}": (directory / _CASES).read_bytes()}
        running[executor.submit(commands.run, words, None, given)] = directory
    codes = dict.fromkeys(directories, SUITE_FAILED)
    with contextlib.suppress(KeyboardInterrupt):  # what is still running is lost, and told as such
        for future in as_completed(running):
            codes[running[future]] = _brought(future, report, running[future].name)
            look()
    return list(codes.values())


def _brought(future: Future[Ended], report: Path, shard: str) -> int:
    """Take what a shard elsewhere left; returns its exit code."""
    problem = future.exception()
    if problem is not None:
        tell(f"shard {shard}: {type(problem).__name__}: {problem}")
        return SUITE_FAILED
    ended = future.result()
    commands.write(report, ended.files)
    if ended.errors:
        tell(ended.errors.rstrip("\n"))
    return ended.exit_code


def _merged(
    options: argparse.Namespace,
    session: Session,
    opened: Opened,
    ended: Sequence[tuple[Sequence[Case], int, Path]],
    *,
    is_interrupted: bool,
) -> Summary:
    """One report of what the shards recorded. ended: cases, exit code and folder of each.

    Raises KeyboardInterrupt where they were interrupted before one of them had a case to run.
    """
    assert session.folder is not None
    codes, directories = [code for _, code, _ in ended], [directory for _, _, directory in ended]
    collected = [
        shards.collect(number, [case.id for case in part], code, directory)
        for number, (part, code, directory) in enumerate(ended, 1)
    ]
    if is_interrupted and all(shard.log is None for shard in collected):
        raise KeyboardInterrupt
    if SUITE_FAILED in codes and all(shard.log is None for shard in collected):
        raise UnwritableError(f"{directories[0].parent}: no process could keep what happened: see above")
    if collected and all(shard.log is None and shard.exit_code == USAGE for shard in collected):
        raise LoadError(f"plug-in {options.plugin}: no process could start: see above")
    log = shards.merge(collected, session.folder / EVENTS, opened.earlier)
    shards.remove(session.folder)
    return session.conclude(log)


def _prepared(folder: Path, number: int, part: Sequence[Case]) -> Path:
    """Make the folder of a shard, inside of the report folder: what it records there survives a kill."""
    directory = folder / SHARDS / str(number)
    directory.mkdir(parents=True)
    (directory / _CASES).write_text("".join(f"{case.id}\n" for case in part), encoding="utf-8")
    return directory


def _write_header(opened: Opened, path: Path) -> None:
    """Begin the event file, so that it tells of a run that is killed before its shards are merged."""
    with contextlib.closing(EventLog(path, resume=True)) as file:
        file.write(replace(opened.header, resumed=bool(opened.earlier)))


def _show(tails: list[Tail], progress: Progress) -> None:
    """Show what the shards have recorded since the last look."""
    for tail in tails:
        for event in tail.events():
            progress.write(event)


def _stop(directories: Sequence[Path], stop_after: int | None, red: int) -> None:
    """Have all shards end in order once they have found enough together; one elsewhere only knows its own cases."""
    if not stop_after or red < stop_after:
        return
    for directory in directories:
        if not (directory / STOP).exists():
            write_whole(directory / STOP, stopped_after(stop_after).encode())


def run_processes(command_lines: Sequence[Sequence[str]], look: Callable[[], None]) -> list[int]:
    """Run `python -m npu_conformance` with each command's arguments at once; return the exit codes.

    look: called now and then, and once at the end. An interrupt is passed on, and the shards get time to write their
    footers.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for command in command_lines:
            words = python("-m", "npu_conformance", *command)
            processes.append(subprocess.Popen(words, start_new_session=True))
        for process in processes:
            _watch(process, look)
        return [process.returncode for process in processes]
    except KeyboardInterrupt:
        for process in processes:
            process.send_signal(signal.SIGINT)
        never_started = [SUITE_FAILED] * (len(command_lines) - len(processes))
        return [*map(_wait, processes), *never_started]


def _watch(process: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
    """Wait for the end of a process."""
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_SECONDS)
        look()


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return end_group(process)


def part(options: argparse.Namespace) -> list[Case]:
    """The cases of this process, which is a shard: it ends with the run that it is a part of."""
    end_with_parent()
    keep_nice()
    mine = frozenset((options.part / _CASES).read_text(encoding="utf-8").splitlines())
    return of_ids(mine, options.vectors)


def _command(options: argparse.Namespace, directory: Path) -> list[str]:
    command = ["run", *session_options(options).plugin_arguments, "--part", str(directory)]
    command += ["--scope", options.scope, "--seed", str(options.seed), "--time-scale", str(options.time_scale)]
    for flag, value in (
        *(("--vectors", path) for path in options.vectors),
        *(("--waivers", path) for path in options.waivers),
        ("--baseline", options.baseline),
        ("--budget", options.budget),
        ("--stop-after", options.stop_after),
    ):
        if value:
            command += [flag, str(value)]
    return [*command, *(["--shuffle"] if options.shuffle else []), "--quiet"]
