"""`graphs -n N` and `--scheduler`: runs this command again, once for each part, and adds up what the parts counted."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from npu_conformance.cli.commands._options import session_options
from npu_conformance.harness.judge.outcome_table import USAGE
from npu_conformance.harness.run import commands, workers
from npu_conformance.harness.run.commands import FOLDER, Ended
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import documents
from npu_conformance.vts.lib.graph_tally import Found, Tally

_TALLY = "tally.json"

Submit = Callable[[tuple[str, ...]], "Future[Ended]"]


@dataclass
class PartsEnded:
    """What came of all parts. lost: a line for each that did not end in order."""

    tally: Tally = field(default_factory=Tally)
    lost: list[str] = field(default_factory=list)


def run(options: argparse.Namespace, tell: Callable[[Found], None]) -> PartsEnded:
    """Run the parts; what one finds is told when it ends. Raises LoadError where none could start the plug-in."""
    ended = PartsEnded()
    with _workers(options) as (submit, jobs):
        count = jobs * workers.PARTS_A_JOB if options.scheduler and options.seeds else jobs
        parts = {submit(_command(options, f"{number}/{count}")): number for number in range(1, count + 1)}
        try:
            for future in as_completed(parts):
                _add(ended, f"part {parts[future]} of {count}", future, options.save, tell)
        except KeyboardInterrupt:
            ended.lost.append("interrupted: the parts that were running are lost")
    return ended


@contextmanager
def _workers(options: argparse.Namespace) -> Iterator[tuple[Submit, int]]:
    """What takes a command's arguments, and how many are run at once. Leaving ends those that are still running."""
    if options.scheduler:
        with workers.cluster(options.scheduler, options.processes) as found:
            yield lambda words: found.executor.submit(commands.run, words), found.jobs
        return
    stop = threading.Event()
    with ThreadPoolExecutor(options.processes) as executor:
        try:
            yield lambda words: executor.submit(commands.run, words, stop), options.processes
        finally:
            stop.set()


def _add(ended: PartsEnded, name: str, future: Future[Ended], save: Path, tell: Callable[[Found], None]) -> None:
    problem = future.exception()
    if problem is not None:
        ended.lost.append(f"{name} is lost: {type(problem).__name__}: {problem}")
        return
    part = future.result()
    if part.exit_code == USAGE:
        raise LoadError(f"{name}: {part.errors.strip()}")
    if _TALLY not in part.files:
        last = part.errors.strip().splitlines()[-1:]
        ended.lost.append(f"{name} is lost: it ended with status {part.exit_code}: {' '.join(last)}")
        return
    tally = documents.decode(part.files.pop(_TALLY), Tally, _TALLY)
    commands.write(save, part.files)
    for found in tally.findings:
        tell(found)
    ended.tally.add(tally)


def _command(options: argparse.Namespace, shard: str) -> tuple[str, ...]:
    """The arguments of a part."""
    words = ["graphs", *session_options(options).plugin_arguments, "--size", options.size]
    words += ["--shard", shard, "--seed", str(options.seed), "--save", FOLDER, "--tally", f"{FOLDER}/{_TALLY}"]
    for flag, value in (("--seeds", options.seeds), ("--seconds", options.seconds)):
        words += [flag, str(value)] if value is not None else []
    for flag, names in (("--operations", options.operations), ("--types", options.types)):
        words += [flag, *names] if names else []
    return tuple(words)
