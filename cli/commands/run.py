"""`npu-conformance run`: runs the suites against a plug-in, and ends in a verdict table and a report folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from npu_conformance.cli.commands._diagnostics import diagnosed
from npu_conformance.cli.commands._options import add_plugin_options, add_selection_options, session_options
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.progress import progress_for
from npu_conformance.harness.run import selection
from npu_conformance.harness.run.budget import by_worth, parse_budget
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.harness.run.session import Session, Summary

_SESSION_OPTIONS = ("scope", "waivers", "baseline", "report", "seed", "shuffle", "resume", "stop_after")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_selection_options(parser)
    add_plugin_options(parser)
    parser.add_argument("-n", dest="processes", metavar="N", type=int, default=1, help="run as N processes")
    parser.add_argument("--shard", metavar="I/N", default="", help="run the I-th of N parts of the selection")
    parser.add_argument("--budget", metavar="TIME", help="stop after 90s, 15m or 2h, the most worthwhile cases first")
    parser.add_argument("--report", metavar="DIR", default="", help="report folder (default: .npu-conformance/NAME)")
    parser.add_argument("--resume", action="store_true", help="go on with the run that the report folder holds")
    parser.add_argument("--waivers", metavar="FILE", help="known failures: reason, owner, link, expiry")
    parser.add_argument("--baseline", metavar="FILE", help="an earlier results.json: only regressions are red")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run; printed")
    parser.add_argument("--shuffle", action="store_true", help="run in an order that follows from the seed")
    parser.add_argument("-x", "--stop-after", metavar="N", type=int, help="stop after N red cases")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress, only the end")
    parser.add_argument(
        "--trace", metavar="FILE", type=Path, help="write where time goes, for Perfetto or chrome://tracing"
    )
    parser.add_argument(
        "--log", metavar="FILE", type=Path, help="file for the lines that NPU_VLOG asks for (docs/diagnostics.md)"
    )
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # for a shard, whose parent prints


def execute(options: argparse.Namespace) -> int:
    """Run and print the verdict table."""
    _require_sense(options)
    with diagnosed(options.trace, options.log):
        return _execute(options)


def _execute(options: argparse.Namespace) -> int:
    wanted = Wanted(tuple(options.targets), options.expression, Scope(options.scope), options.vectors, options.shard)
    console = Console(sys.stdout)
    if options.processes > 1:
        from npu_conformance.cli.commands import _shards

        _, cases = _select(wanted)
        summary = _shards.run(options, cases, console)
    else:
        summary = _run_here(options, wanted, console)
    if not options.part:
        console.say("\n".join(summary.lines(console.paint)))
    return summary.exit_code


def _require_sense(options: argparse.Namespace) -> None:
    for flag, number in (("-n", options.processes), ("-x", options.stop_after)):
        if number is not None and number < 1:
            raise UsageError(f"{flag}: expected a positive number, found {number}")
    if options.processes > 1 and (options.resume or options.shard):
        flag = "--resume" if options.resume else "--shard"
        raise UsageError(f"{flag} goes with one process: leave out -n {options.processes}")


def _select(wanted: Wanted) -> tuple[selection.Selected, list[Case]]:
    selected = selection.select(wanted)
    cases = _part(selected.cases, wanted.shard)
    if not cases:
        raise UsageError("nothing is selected: see `npu-conformance list`")
    return selected, cases


def _run_here(options: argparse.Namespace, wanted: Wanted, console: Console) -> Summary:
    given = session_options(
        options,
        **{name: getattr(options, name) for name in _SESSION_OPTIONS},
        vectors=str(options.vectors) if options.vectors else None,
        seconds=parse_budget(options.budget) if options.budget else None,
    )
    session = Session(given)
    try:
        session.prepare()  # imports the plug-in while the cases are looked up
        selected, cases = _select(wanted)
        if options.budget:
            cases = by_worth(cases)
        subject = session.subject
        described = wanted.described(selected.deselected(subject.manifest, subject.version))
        progress = progress_for(len(cases), quiet=options.quiet)
        if not options.part:
            console.say(
                f"{subject.manifest.name} {subject.manifest.version} ({options.plugin}), HAL {subject.version}, "
                f"seed {options.seed}: {len(cases)} cases, scope {options.scope}"
            )
        session.start(cases, described, [] if options.part else [progress])
        summary = session.run_all()
        progress.close()
        return summary
    finally:
        session.close()


def _part(cases: list[Case], shard: str) -> list[Case]:
    if not shard:
        return cases
    from npu_conformance.harness.run.partition import parse_shard, partition

    index, count = parse_shard(shard)
    return partition(cases, count)[index - 1]
