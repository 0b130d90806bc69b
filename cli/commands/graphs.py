"""`npu-conformance graphs`: random graphs of operations, judged by the oracles, shrunk where they fail."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.cli.commands._numbers import require_not_negative, require_positive, time_in_seconds
from npu_conformance.cli.commands._options import add_plugin_options, add_wire_log_option, session_options
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, USAGE, exit_code, row
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.harness.run.partition import parse_shard
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.forked import end_with_parent
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.documents.results import CaseResult
    from npu_conformance.vts.lib.graph_campaign import Campaign
    from npu_conformance.vts.lib.graph_tally import Found, Tally

_SECONDS = 10.0
_LONGEST = 40
"""Characters of a range of seeds. Python has a limit for the digits of a number, too, and another exception for it."""
_FOLDER = Path(".npu-conformance/graphs")
_TYPES = ("float32", "float16", "int32", "bool8", "quant8", "quant8_signed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_plugin_options(parser)
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument(
        "--time",
        metavar="T",
        type=time_in_seconds,
        help=f"run seed after seed for this time, such as 90s, 10m or 8h (default: {_SECONDS:g}s)",
    )
    limit.add_argument("--seeds", metavar="A:B", help="run the seeds from A to B - 1, or the single seed A")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="the first seed of --time (default: 0)")
    parser.add_argument(
        "--size", choices=("single", "small", "large"), default="small", help="1, 5 or 40 operations (default: small)"
    )
    parser.add_argument(
        "--operations",
        metavar="OP",
        nargs="+",
        default=[],
        help="use only these operations (default: those that the device accepts)",
    )
    parser.add_argument(
        "--types",
        metavar="TYPE",
        nargs="+",
        default=[],
        type=_type_name,
        help=f"use only these types: {' '.join(_TYPES)}, or TENSOR_FLOAT32 and so on",
    )
    parser.add_argument(
        "--save", metavar="DIR", type=Path, default=_FOLDER, help=f"folder for the findings (default: {_FOLDER})"
    )
    parser.add_argument("-n", dest="processes", metavar="N", type=int, help="run in N processes")
    parser.add_argument("--scheduler", metavar="URL", default="", help="run on the workers of a Dask scheduler")
    parser.add_argument("--shard", metavar="I/N", help="run every N-th seed, starting with the I-th")
    parser.add_argument("--tally", type=Path, help=argparse.SUPPRESS)  # of a part: where it writes what it counted
    add_wire_log_option(parser)


def execute(options: argparse.Namespace) -> int:
    """Run graphs; return the exit code of the worst where something was found, 2 where nothing could be judged."""
    _check(options)
    _require_room(options.save)
    with diagnosed(wire_file=options.wire_log):
        return _execute(options)


def _type_name(text: str) -> str:
    """A type as ids of graphs spell it; TENSOR_FLOAT32, as everything else spells it, is understood as well."""
    from npu_conformance.corpus.random_graphs.official import TYPES

    return next((name for name, (tensor, _) in TYPES.items() if text == tensor), text)


def _require_room(folder: Path) -> None:
    """Raise UsageError where no finding could be kept: the search would be in vain."""
    place = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(place, os.W_OK):
        raise UsageError(f"--save: {folder}: cannot be written")


def _execute(options: argparse.Namespace) -> int:
    from npu_conformance.harness.run.session_options import open_by_options
    from npu_conformance.vts.lib.graph_campaign import Campaign, plan

    session = session_options(options, at_once=options.processes or 1)
    console = Console(sys.stdout)
    with contextlib.closing(open_by_options(session)) as subject:
        narrowed = _narrow(options, subject)
        try:
            recipes = plan(subject, options.size, options.types, options.operations)
        except LookupError as error:
            raise UsageError(str(error)) from None
        console.say("\n".join([_headline(options, subject), *narrowed]))
        started = time.monotonic()
        if not (options.processes or options.scheduler):
            campaign = Campaign(subject, recipes, options.save, session.plugin_words, partial(_tell_shrinking, console))
            came_to_its_end = _run(options, campaign, console)
            code = _end(options, console, campaign.tally, started)
            return code if came_to_its_end else SUITE_FAILED
    return _in_parts(options, console, started)


def _narrow(options: argparse.Namespace, subject: SubjectHandle) -> list[str]:
    """Draw graphs from what the device accepts, where nothing else was asked for; returns a line about that."""
    from npu_conformance.vts.lib.accepted_operations import accepted

    found = None if options.operations or options.tally else accepted(subject, options.types)
    if found is None or not found.operations:
        return []
    lacks_types = len(found.types) < found.all_types
    if len(found.operations) == found.all_operations and not lacks_types:
        return []
    options.operations, options.types = [*found.operations], [*found.types] if lacks_types else options.types
    told = f"the device accepts {len(found.operations)} of {counted(found.all_operations, 'operation')}"
    types = f", in {len(found.types)} of {counted(found.all_types, 'type')}" if lacks_types else ""
    return [f"{told}{types}: graphs are drawn from these; --operations and --types choose others"]


def _in_parts(options: argparse.Namespace, console: Console, started: float) -> int:
    from npu_conformance.cli.commands import _graph_parts

    ended = _graph_parts.run(options, lambda found: _tell(console, options, found))
    for loss in ended.lost:
        console.say(loss)
    return max(_end(options, console, ended.tally, started), SUITE_FAILED if ended.lost else OK)


def _end(options: argparse.Namespace, console: Console, tally: Tally, started: float) -> int:
    """Sum up, for a reader or for the command that this is a part of."""
    if options.tally:
        options.tally.write_bytes(msgspec.json.encode(tally))
    console.say("\n".join(_summary(tally, time.monotonic() - started)))
    if not (tally.passed or tally.findings or options.tally):
        return USAGE
    return exit_code(row(found.result.outcome).exit_code for found in tally.findings)


def _tell_shrinking(console: Console, seed: int, result: CaseResult) -> None:
    """Each try of a hang takes its deadline, and one of a crash a start; all others are quick."""
    if result.outcome in (Outcome.HANG, Outcome.CRASH):
        console.say(f"{result.outcome.value.upper()} seed {seed}: making the graph smaller")


def _tell(console: Console, options: argparse.Namespace, found: Found) -> None:
    console.say("\n".join(_finding(found, options.save, session_options(options).plugin_words)))


def _run(options: argparse.Namespace, campaign: Campaign, console: Console) -> bool:
    """Run the seeds; False where somebody ended that early."""
    if options.tally:
        end_with_parent()
    try:
        for seed in _seeds(options):
            found = campaign.run(seed)
            if found is not None:
                _tell(console, options, found)
            if campaign.is_interrupted:
                return _interrupted(console)
            if campaign.is_over:
                break
    except KeyboardInterrupt:
        return _interrupted(console)
    return True


def _interrupted(console: Console) -> bool:
    console.say("interrupted")
    return False


def _seeds(options: argparse.Namespace) -> Iterator[int]:
    index, count = parse_shard(options.shard) if options.shard else (1, 1)
    return itertools.islice(_all_seeds(options), index - 1, None, count)


def _all_seeds(options: argparse.Namespace) -> Iterator[int]:
    if options.seeds is not None:
        yield from _range(options.seeds)
        return
    ends = time.monotonic() + (options.time or _SECONDS)
    for seed in itertools.count(options.seed):
        if time.monotonic() >= ends:
            return
        yield seed


def _range(text: str) -> range:
    first, separator, last = text.partition(":")
    are_numbers = first.isdecimal() and (last.isdecimal() or not separator) and len(text) <= _LONGEST
    if not are_numbers:
        raise UsageError(f"--seeds: expected A:B or A, found {text[:_LONGEST]!r}")
    seeds = range(int(first), int(last) if separator else int(first) + 1)
    if not seeds:
        raise UsageError(f"--seeds {text}: there is no seed from {first} to before {last}")
    return seeds


def _check(options: argparse.Namespace) -> None:
    from npu_conformance.corpus import strategies
    from npu_conformance.specs.neuralnetworks import catalogue

    require_not_negative("--seed", options.seed)
    if options.seeds is not None:
        _range(options.seeds)
    require_positive("-n", options.processes)
    if options.shard:
        parse_shard(options.shard)
    if options.scheduler:
        from npu_conformance.harness.run.workers import require_dask

        require_dask()
    if options.processes or options.scheduler:
        for flag, value in (("--shard", options.shard), ("--wire-log", options.wire_log)):
            if value:
                raise UsageError(f"{flag}: not with -n or --scheduler")
    for name in options.types:
        if name not in _TYPES:
            raise UsageError(f"--types: expected some of {' '.join(_TYPES)}, found {name!r}")
    for name in options.operations:
        if name not in strategies.operations():
            known = "there are no random graphs of it" if name in catalogue.names() else "there is no such operation"
            raise UsageError(f"--operations {name}: {known}{did_you_mean(name, strategies.operations())}")


def _headline(options: argparse.Namespace, subject: SubjectHandle) -> str:
    which = _which(options)
    narrowed = [*options.types, *options.operations]
    only = f", only {' '.join(narrowed)}" if narrowed else ""
    return f"{subject.manifest.name}, HAL {subject.version}: {options.size} graphs, {which}{only}"


def _which(options: argparse.Namespace) -> str:
    if options.seeds is None:
        return f"seeds from {options.seed} on"
    seeds = _range(options.seeds)
    if ":" in options.seeds:
        return f"seeds {options.seeds}"
    return f"seed {options.seeds} alone" + (f" (--seeds 0:{seeds[0]} are {seeds[0]} seeds)" if seeds[0] > 1 else "")


def _finding(found: Found, folder: Path, plugin_words: str) -> list[str]:
    result = found.result
    shrunk = f"shrunk from {counted(found.before, 'operation')} to {' '.join(found.operations)}"
    return [
        f"{result.outcome.value.upper()} seed {found.seed}: {shrunk}",
        f"  {result.message}",
        *(f"  {folder / path}" for path in found.files),
        *([] if found.files else [f"  interrupted before it was kept: --seeds {found.seed} makes it again"]),
        *(f"  npu-conformance replay {shell.joined([str(folder / path)])} {plugin_words}" for path in found.files[:1]),
    ]


def _summary(tally: Tally, seconds: float) -> list[str]:
    rate = tally.graphs / seconds if seconds else 0.0
    done = f"{counted(tally.graphs, 'graph')} of {counted(tally.operations, 'operation')}"
    lines = [f"{done} in {seconds:.1f} s ({rate:.0f} a second)"]
    lines.append(f"{tally.passed} right, {tally.not_supported} not supported, {_wrong(tally)} wrong")
    lines.append(_judged(tally))
    lines += [_decidable(tally)] if tally.sampled and tally.elements else []
    lines.append(f"{counted(len(tally.covered), 'operation')} executed and right")
    if tally.refused:
        worst = ", ".join(f"{name} ({count})" for name, count in Counter(tally.refused).most_common(8))
        lines.append(f"not supported in how many graphs: {worst}")
    if tally.impossible:
        lines.append(f"{tally.impossible} seeds lead to no graph")
    return lines


def _wrong(tally: Tally) -> int:
    return len(tally.findings) + tally.unshrunk


def _judged(tally: Tally) -> str:
    if not tally.elements:
        return "nothing was judged: no graph was executed"
    share = 1 - tally.undecided / tally.elements
    told = f"judged: {share:.2%} of {tally.elements:,} elements of the results"
    return told + (f"; {_widened(tally.widened)}" if tally.widened else "")


def _decidable(tally: Tally) -> str:
    share = tally.sampled_decided / tally.sampled
    return f"whatever a device computes, {share:.1%} of such elements can be judged (found out for {tally.sampled:,})"


def _widened(count: int) -> str:
    are, have = ("is", "has") if count == 1 else ("are", "have")
    return f"{count:,} {are} right only because operations before them may err, so that they {have} a wider tolerance"
