"""The first screen: the verdict, what was tested, how each suite ended, why, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.judge.outcome_table import SUITE_FAILED, is_red
from npu_conformance.harness.report import summary
from npu_conformance.harness.report.lines import replay_command
from npu_conformance.harness.report.shown_run import ORDER, SIGNS, ShownRun
from npu_conformance.harness.report.summary import red_that_ran
from npu_conformance.harness.report.table import against, folded
from npu_conformance.harness.report.tally import tally
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.summary import Counts, Results
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup

_SHOWN_REASONS = 6
_BAR = 240
"""Width of the bar of a suite, in units of its drawing."""


class Verdict(msgspec.Struct, frozen=True):
    """The conclusion in a word and a sentence. kind: the outcome whose colour it has."""

    kind: str
    word: str
    sentence: str

    @property
    def sign(self) -> str:
        """What tells it without colour."""
        return SIGNS[self.kind]


def head(run: ShownRun) -> Markup:
    """The top of the page."""
    results = run.results
    remarks = (*results.reasons, *results.thin_coverage)
    outcomes = [outcome.value for outcome in Outcome if outcome.value in results.counts]
    suites = [*results.by_suite.items(), ("all", results.counts)]
    return render(
        "head.html",
        results=results,
        verdict=verdict(results),
        remarks=[folded(remark) for remark in remarks[:_SHOWN_REASONS]],
        more_remarks=[folded(remark) for remark in remarks[_SHOWN_REASONS:]],
        outcomes=outcomes,
        suites=[(suite, counts, list(_bar(counts))) for suite, counts in suites],
        width=_BAR,
        facts=list(_facts(results)),
        steps=list(_steps(run)),
        selection=_selection(results),
    )


def verdict(results: Results) -> Verdict:
    """What a run came to."""
    cases = counted(sum(results.counts.values()), "case")
    if results.conformant:
        passed = results.counts.get(Outcome.PASS.value, 0)
        return Verdict("pass", "conformant", f"Everything that applies and is supported passed: {passed:,} of {cases}.")
    if results.exit_code == SUITE_FAILED:
        return Verdict("suite-error", "not shown to be conformant", "The suite itself did not finish its work.")
    if results.exit_code:
        return Verdict("fail", "not shown to be conformant", _wrong(results, cases))
    return Verdict("not-supported", "not shown to be conformant", _nothing_wrong(results, cases))


def _wrong(results: Results, cases: str) -> str:
    counts = tally(results)
    excused = f"; {counts.excused}" if counts.excused else ""
    if not counts.red:
        return f"No case is red, but {counted(len(results.red), 'finding')} about waivers or the baseline{excused}."
    told = {"failed": counts.failed, "no longer supported": counts.lost, "did not run": counts.not_run}
    first, *others = [(count, what) for what, count in told.items() if count]
    parts = [f"{first[0]:,} of {cases} {first[1]}", *(f"{count:,} {what}" for count, what in others)]
    return f"{', '.join(parts)}{excused}{_beside(results)}."


def _nothing_wrong(results: Results, cases: str) -> str:
    if excused := tally(results).excused:
        return f"Apart from {excused}, nothing is wrong in {cases}, but that does not show conformance."
    return f"Nothing that counts is wrong in {cases}, but that does not show conformance."


def _beside(results: Results) -> str:
    """How many cases passed, and how many tell nothing, so that nobody reads the rest as passed."""
    counts = Counter(case.outcome for case in results.cases if not is_red(case.outcome, case.dispositions))
    silent = counts[Outcome.NOT_SUPPORTED] + counts[Outcome.NOT_APPLICABLE]
    passed = f"; {counts[Outcome.PASS]:,} passed"
    return passed + (f", {silent:,} are not supported or do not apply" if silent else "")


def _bar(counts: Mapping[str, int]) -> Iterator[tuple[str, float, float]]:
    """The pieces of a suite's bar: outcome, place and width; what is there at all is one unit wide at least."""
    whole, place = sum(counts.values()), 0.0
    for outcome in reversed(ORDER):
        if count := counts.get(outcome.value, 0):
            width = max(2.0, count * _BAR / whole)
            yield outcome.value, round(place, 1), round(width, 1)
            place += width


def _selection(results: Results) -> str:
    """What was asked for, in words."""
    asked = results.selection
    words = [*asked.suites, *asked.patterns, *([f"-k {asked.expression}"] if asked.expression else [])]
    return f"scope {asked.scope}" + (f", {' '.join(words)}" if words else ", all suites")


def _facts(results: Results) -> Iterator[str]:
    parts = _told(results.configuration_counts)
    if parts:
        yield f"Configurations and mutations of the cases: {parts}."
    if results.waived:
        yield f"{counted(results.waived, 'case')} waived."
    if results.baseline:
        yield f"Compared with the baseline: {against(results.baseline)}."
    if results.quality_warnings:
        yield f"{counted(results.quality_warnings, 'case')} with a quality warning."
    if results.left_out:
        yield f"{counted(len(results.left_out), 'case')} left out ({results.left_out[0].reason})."


def _told(counts: Counts) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _steps(run: ShownRun) -> Iterator[str]:
    """What to do next, as on the terminal."""
    red, folder = red_that_ran(run.verdicts), str(Path(run.replays.folder).parent)
    if any(run.replays.of(result) for result in red):
        yield f"run the failures again: {replay_command(folder, run.replays.plugin)}"
    if not run.results.complete:
        yield "the run did not finish; the same command with --resume continues it"
    told = summary.lines(run.results, run.verdicts, None, run.replays.plugin)
    yield from (line.removeprefix("next: ") for line in told)
