"""`graphs -n N` and `--scheduler`: runs this command again, once for each part, and adds up what the parts counted."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from npu_conformance.cli.commands._options import session_options
from npu_conformance.cli.commands._parts import LostError, left_by, takers
from npu_conformance.harness.run import commands, workers
from npu_conformance.harness.run.commands import FOLDER, Ended
from npu_conformance.specs import documents
from npu_conformance.vts.lib.graph_tally import Found, Tally

_TALLY = "tally.json"


@dataclass
class PartsEnded:
    """What came of all parts. lost: a line for each that did not end in order."""

    tally: Tally = field(default_factory=Tally)
    lost: list[str] = field(default_factory=list)


def run(options: argparse.Namespace, tell: Callable[[Found], None]) -> PartsEnded:
    """Run the parts; what one finds is told when it ends. Raises LoadError where none could start the plug-in."""
    ended = PartsEnded()
    with takers(options.scheduler, options.processes) as (submit, jobs):
        count = jobs * workers.PARTS_A_JOB if options.scheduler and options.seeds else jobs
        parts = {submit(_command(options, f"{number}/{count}")): number for number in range(1, count + 1)}
        try:
            for future in as_completed(parts):
                _add(ended, f"part {parts[future]} of {count}", future, options.save, tell)
        except KeyboardInterrupt:
            ended.lost.append("interrupted: the parts that were running are lost")
    return ended


def _add(ended: PartsEnded, name: str, future: Future[Ended], save: Path, tell: Callable[[Found], None]) -> None:
    try:
        part = left_by(name, future, _TALLY)
    except LostError as lost:
        ended.lost.append(str(lost))
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
    words += ["--seeds", options.seeds] if options.seeds is not None else []
    words += ["--time", f"{options.time:f}s"] if options.time is not None else []
    for flag, names in (("--operations", options.operations), ("--types", options.types)):
        words += [flag, *names] if names else []
    return tuple(words)
