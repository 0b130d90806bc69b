"""`npu-conformance report`: a page, a JUnit file, a badge or the table again, from the folder of a run; or several."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, is_red
from npu_conformance.harness.report.console import Console
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from npu_conformance.harness.report.lines import ReplayCommands
    from npu_conformance.harness.report.shown_run import EarlierRun
    from npu_conformance.specs.documents.results import CaseResult
    from npu_conformance.specs.documents.summary import Results

PLUGIN_WORDS = "--plugin P"
"""Names the plug-in where an earlier version has not recorded how it was named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "folders",
        metavar="DIR",
        type=Path,
        nargs="+",
        help="report folder of a run, also of a killed one, or of a plug-in for its latest run; several are compared "
        "in order of time",
    )
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the page to FILE; - is standard output")
    parser.add_argument(
        "--beside-run",
        metavar="DIR",
        type=Path,
        help="on the page: also show the figures of another run, such as the one before",
    )
    parser.add_argument(
        "--fuzz", metavar="DIR", type=Path, help="on the page: also show the findings of a `fuzz` campaign"
    )
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML to FILE; - is standard output")
    parser.add_argument(
        "--badge", metavar="FILE", type=Path, help="write the verdict as a small SVG to FILE; - is standard output"
    )
    parser.add_argument(
        "--csv",
        metavar="FILE",
        type=Path,
        help="write what mlts measured as AOSP's mlts_benchmark.csv; - is standard output",
    )
    show = parser.add_mutually_exclusive_group()
    show.add_argument("--failures", action="store_true", help="explain every red case")
    show.add_argument("--causes", action="store_true", help="print a line for each cause of red cases")
    show.add_argument("--warnings", action="store_true", help="print every quality warning")
    show.add_argument("--reasons", action="store_true", help="count why cases gave no verdict: not applicable, not run")
    show.add_argument("--json", action="store_true", help="print the content of results.json, or the comparison")


def execute(options: argparse.Namespace) -> int:
    """Read what was recorded and show what was asked for; the table where nothing else was."""
    from npu_conformance.cli.commands._compared_runs import compare

    for flag in ("beside_run", "fuzz"):
        if getattr(options, flag) and not options.html:
            raise UsageError(f"--{flag.replace('_', '-')}: is for a page: add --html FILE")
    return compare(options) if len(options.folders) > 1 else _show(options, options.folders[0])


def _show(options: argparse.Namespace, named: Path) -> int:
    """Show one run."""
    from npu_conformance.harness.run import folders, results, stored_runs
    from npu_conformance.harness.run.session import Summary, replay_commands

    folder = folders.resolve(named)
    log, outcome = stored_runs.read(folder)
    verdicts = results.complete(log)
    plugin = log.header.plugin_words or PLUGIN_WORDS
    replays = replay_commands(folder, plugin)
    _write(options, outcome, verdicts, replays)
    console = Console(sys.stdout)
    if options.failures:
        _show_failures(console, outcome, verdicts, replays)
    elif options.causes:
        _show_causes(console, verdicts)
    elif options.warnings:
        _show_warnings(console, verdicts)
    elif options.reasons:
        _show_reasons(console, verdicts)
    elif options.json:
        from npu_conformance.cli.commands._output import print_json

        print_json(outcome)
    elif not (options.html or options.junit or options.badge or options.csv):
        for line in Summary(outcome, tuple(verdicts), folder, plugin).lines(console.paint):
            console.say(line)
    return OK


def _write(options: argparse.Namespace, outcome: Results, verdicts: list[CaseResult], replays: ReplayCommands) -> None:
    from npu_conformance.cli.commands import _fuzz_findings
    from npu_conformance.cli.commands._output import write_text
    from npu_conformance.harness.report import badge, benchmark_csv, junit, page

    if options.html:
        further = [_fuzz_findings.section(options.fuzz)] if options.fuzz else []
        earlier = _earlier(options.beside_run) if options.beside_run else None
        write_text(options.html, page.document(outcome, verdicts, replays, earlier=earlier, further=further))
    if options.junit:
        write_text(options.junit, junit.document(outcome, verdicts, replays))
    if options.badge:
        write_text(options.badge, badge.badge(outcome))
    if options.csv:
        write_text(options.csv, benchmark_csv.document(outcome, verdicts))


def _earlier(named: Path) -> EarlierRun:
    """The run that figures stand beside. UsageError where it measured nothing."""
    from npu_conformance.harness.report.shown_run import EarlierRun
    from npu_conformance.harness.run import folders, results, stored_runs

    log, outcome = stored_runs.read(folders.resolve(named))
    verdicts = results.complete(log)
    if not any(result.measurements for result in verdicts):
        raise UsageError(f"--beside-run: {named}: this run has measured nothing")
    return EarlierRun(f"{outcome.manifest.name} of {outcome.time[:16].replace('T', ' ')}", verdicts)


def _show_failures(console: Console, outcome: Results, verdicts: list[CaseResult], replays: ReplayCommands) -> None:
    """Print the symptoms, then every red case, then those that are waived or known; findings that are about no case."""
    from npu_conformance.harness.report import symptoms
    from npu_conformance.harness.report.lines import explain
    from npu_conformance.harness.report.summary import excused_that_ran, excuses, red_that_ran

    leading = symptoms.lines(symptoms.grouped(red_that_ran(verdicts)), console.paint, whole=True)
    red = [result for result in verdicts if is_red(result.outcome, result.dispositions)]

    def explained(cases: Iterable[CaseResult]) -> Iterator[str]:
        return (explain(result, console.paint, replays.of(result)) for result in cases)

    excused = excused_that_ran(verdicts)
    also = [f"what is excused, {excuses(excused)}:"] if excused else []
    findings = [] if red else [f"red: {one_line(line)}" for line in (*outcome.red, *outcome.problems)]
    told = [*findings, *leading, *explained(red), *also, *explained(excused)]
    console.say("\n".join(told) or "nothing is red")


def _show_causes(console: Console, verdicts: list[CaseResult]) -> None:
    """Print the symptoms, all of them."""
    from npu_conformance.harness.report import symptoms
    from npu_conformance.harness.report.summary import red_that_ran

    told = symptoms.lines(symptoms.grouped(red_that_ran(verdicts)), console.paint, whole=True)
    console.say("\n".join(told) or "nothing is red")


def _show_warnings(console: Console, verdicts: list[CaseResult]) -> None:
    from npu_conformance.harness.report.lines import warnings

    told = [f"{result.case}: {line}" for result in verdicts for line in warnings(result)]
    console.say("\n".join(told) or "no quality warnings")


def _show_reasons(console: Console, verdicts: list[CaseResult]) -> None:
    """Print why cases gave no verdict on the subject, the most frequent reason of each outcome first."""
    from npu_conformance.harness.report.symptoms import reason_of

    told = []
    for outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_SUPPORTED, Outcome.NOT_RUN):
        counts = Counter(reason_of(result) for result in verdicts if result.outcome is outcome)
        told += [f"{count:>6,} {outcome.value}: {reason or 'no reason'}" for reason, count in counts.most_common()]
    console.say("\n".join(told) or "every case gave a verdict")
