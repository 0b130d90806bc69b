"""`run -n N`: runs this command again, once for each shard, and makes one report of what they recorded."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from npu_conformance.cli.commands._options import session_options
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge import waivers
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.progress import Progress, progress_for
from npu_conformance.harness.run import baseline, shards
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.partition import partition
from npu_conformance.harness.run.session import EVENTS, FAILURES, ROOT, Summary, conclude
from npu_conformance.harness.run.tail import Tail
from npu_conformance.harness.subject.loading import LoadError

_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.2


def run(options: argparse.Namespace, cases: list[Case], console: Console) -> Summary:
    """Run the shards, merge their events and conclude. Raises LoadError where no shard could start the plug-in."""
    applied = waivers.load(Path(options.waivers)) if options.waivers else Waivers()
    parts = partition(cases, min(options.processes, len(cases)))
    console.say(
        f"{options.plugin}, seed {options.seed}: {len(cases)} cases, scope {options.scope}, in {len(parts)} processes"
    )
    with _scratch(Path(options.report) if options.report else ROOT) as scratch:
        directories = [Path(scratch) / str(number) for number in range(1, len(parts) + 1)]
        return _run(options, parts, directories, applied)


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Make the folder where the shards keep their events: inside the report folder, where they survive a kill."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix="shards-", dir=folder)
    except OSError as error:
        raise UsageError(f"{folder}: cannot keep the report: {error.strerror}") from None


def _run(options: argparse.Namespace, parts: list[list[Case]], directories: list[Path], applied: Waivers) -> Summary:
    commands = [
        _command(options, f"{number}/{len(parts)}", directory) for number, directory in enumerate(directories, 1)
    ]
    progress = progress_for(sum(map(len, parts)), quiet=options.quiet)
    tails = [Tail(directory / EVENTS) for directory in directories]
    with contextlib.closing(progress):
        codes = run_processes(commands, directories, lambda: _show(tails, progress))
    collected = [
        shards.collect(number, [case.id for case in part], code, directory)
        for number, (part, code, directory) in enumerate(zip(parts, codes, directories, strict=True), 1)
    ]
    logs = [shard.log for shard in collected if shard.log is not None]
    if not logs:
        raise LoadError(f"plug-in {options.plugin}: no process could start: see above")
    folder = Path(options.report) if options.report else ROOT / logs[0].header.manifest.name
    log = shards.merge(collected, folder / EVENTS)
    _gather_failures(folder, directories)
    compared = baseline.load(Path(options.baseline), log.header.digests) if options.baseline else None
    return conclude(log, folder, applied, compared, session_options(options).plugin_words)


def _show(tails: list[Tail], progress: Progress) -> None:
    """Show what the shards have recorded since the last look."""
    for tail in tails:
        for event in tail.events():
            progress.write(event)


def run_processes(
    commands: Sequence[Sequence[str]], directories: Sequence[Path], look: Callable[[], None]
) -> list[int]:
    """Run `python -m npu_conformance` with each command's arguments at once; return the exit codes.

    directories: the report folder of each. look: called now and then, and once at the end. An interrupt is passed on,
    and the shards get time to write their footers.
    """
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    processes = [
        subprocess.Popen([sys.executable, "-m", "npu_conformance", *command], start_new_session=True)
        for command in commands
    ]
    try:
        for process in processes:
            _watch(process, look)
        return [process.returncode for process in processes]
    except KeyboardInterrupt:
        for process in processes:
            process.send_signal(signal.SIGINT)
        return [_wait(process) for process in processes]


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
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _command(options: argparse.Namespace, shard: str, directory: Path) -> list[str]:
    command = ["run", *options.targets, "--plugin", options.plugin, "--shard", shard, "--report", str(directory)]
    command += ["--scope", options.scope, "--seed", str(options.seed), "--isolation", options.isolation]
    for flag, values in (
        ("--plugin-option", options.plugin_option),
        ("--transport", options.transport),
        ("--catalogue", options.catalogue),
    ):
        for value in values:
            command += [flag, str(value)]
    for flag, value in (
        ("-k", options.expression),
        ("--hal", options.hal),
        ("--vectors", options.vectors),
        ("--waivers", options.waivers),
        ("--baseline", options.baseline),
        ("--budget", options.budget),
        ("--stop-after", options.stop_after),
    ):
        if value:
            command += [flag, str(value)]
    command += session_options(options).tool_words
    return [*command, *(["--shuffle"] if options.shuffle else []), "--quiet", "--part"]


def _gather_failures(folder: Path, directories: list[Path]) -> None:
    target = folder / FAILURES
    shutil.rmtree(target, ignore_errors=True)
    for directory in directories:
        for file in (directory / FAILURES).glob("*.json"):
            target.mkdir(parents=True, exist_ok=True)
            file.replace(target / file.name)
