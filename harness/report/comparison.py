"""Several runs side by side, and over time: verdicts, the cases whose verdicts differ, and what was measured."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import UNJUDGED
from npu_conformance.harness.report import durations, moved
from npu_conformance.harness.report.durations import Durations
from npu_conformance.harness.report.moved import ComparedMeasurement
from npu_conformance.harness.report.sections.head import Verdict, verdict
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

IsWorse = Callable[[Outcome | None, Outcome], bool]
"""Whether an outcome is worse than the one before, None for a case that is new."""
_SHOWN_BETTER = frozenset({Outcome.PASS, Outcome.FAIL})
"""What a case that got better has come to: one that does not apply any more, or did not run, shows nothing."""
_SHOWN = 20
"""How many lines of each part the terminal has."""


@dataclass(frozen=True)
class ComparedRun:
    """A run in a comparison. name: where it is from."""

    name: str
    results: Results

    @property
    def verdict(self) -> Verdict:
        """The conclusion of the run."""
        return verdict(self.results)

    @property
    def about(self) -> str:
        """The plug-in, its version and what it was judged as."""
        manifest = self.results.manifest
        return f"{manifest.name} {manifest.version}, {self.results.judged_as}"


@dataclass(frozen=True)
class DifferingCase:
    """A case whose verdicts differ. outcomes: run by run, None where a run does not have it.

    worse, better: in the last of the runs that have it, compared with the last one before that has a verdict on it.
    """

    case: str
    outcomes: tuple[Outcome | None, ...]
    worse: bool
    better: bool

    @property
    def change(self) -> str:
        """What the last of the runs changed, in a word; empty where it is neither better nor worse."""
        return "worse" if self.worse else "better" if self.better else ""

    def __str__(self) -> str:
        words = " -> ".join(outcome.value if outcome else "absent" for outcome in self.outcomes)
        return f"{self.change}{' ' if self.change else ''}{self.case}: {words}"


@dataclass(frozen=True)
class Comparison:
    """Runs in order of time, with what differs. remarks: why a difference may be no change of the implementation.

    durations: None where a run does not say how long its cases took.
    """

    runs: tuple[ComparedRun, ...]
    remarks: tuple[str, ...]
    suites: tuple[str, ...]
    differing: tuple[DifferingCase, ...]
    only_in_some: int
    measurements: tuple[ComparedMeasurement, ...]
    durations: Durations | None


def compared(runs: Iterable[ComparedRun], is_worse: IsWorse) -> Comparison:
    """Compare two runs or more. is_worse: whether an outcome is worse than the one before it."""
    ordered = tuple(sorted(runs, key=lambda run: run.results.time))
    differing = list(_differing(ordered, is_worse))
    in_all = [case for case in differing if None not in case.outcomes]
    return Comparison(
        runs=ordered,
        remarks=tuple(remarks([run.results for run in ordered])),
        suites=tuple(dict.fromkeys(suite for run in ordered for suite in run.results.by_suite)),
        differing=tuple(sorted(in_all, key=lambda case: not case.worse)),
        only_in_some=len(differing) - len(in_all),
        measurements=tuple(moved.measurements([run.results for run in ordered])),
        durations=durations.durations([run.results for run in ordered]),
    )


def lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for a terminal."""
    yield from map(one_line, _lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    for number, run in enumerate(comparison.runs, start=1):
        yield f"run {number}: {run.name}: {run.about}, {run.results.time}: {run.verdict.word}; {_counts(run.results)}"
    yield from (f"note: {remark}" for remark in comparison.remarks)
    yield from _some([f"  {case}" for case in comparison.differing], "cases with different verdicts, run by run:")
    if comparison.only_in_some:
        yield f"{counted(comparison.only_in_some, 'case')} only in some of the runs"
    yield from moved.lines(comparison.measurements, "--html FILE shows all")
    yield from durations.lines(comparison.durations)
    worse = sum(case.worse for case in comparison.differing)
    yield f"{counted(len(comparison.differing), 'verdict')} changed, {worse} for the worse in the last run"


def _some(told: Sequence[str], title: str) -> Iterator[str]:
    if told:
        yield title
        yield from told[:_SHOWN]
    if len(told) > _SHOWN:
        yield f"  ... and {len(told) - _SHOWN} more; --html FILE shows all"


def _counts(results: Results) -> str:
    return ", ".join(f"{count} {name}" for name, count in results.counts.items())


def remarks(runs: Sequence[Results]) -> Iterator[str]:
    """What makes runs differ without a change of the implementation."""
    differences = (
        ("vectors", {run.digests.vectors for run in runs}),
        ("versions of the suite", {run.suite_version for run in runs}),
        ("versions of the HAL", {run.hal_version for run in runs}),
        ("feature levels of the NNAPI", {run.manifest.feature_level for run in runs}),
        ("selections of cases", {replace(run.selection, deselected=0) for run in runs}),
    )
    yield from (f"the runs have different {what}" for what, found in differences if len(found) > 1)
    options = [_options(run) for run in runs]
    if None not in options and len(set(options)) > 1:
        yield f"the runs have different plug-in options: {', then '.join(one or 'none' for one in options)}"
    yield from (f"run {place} did not finish" for place, run in enumerate(runs, 1) if not run.complete)


def _options(run: Results) -> str | None:
    """The options of the plug-in, as on the command line; None where the run does not say them."""
    words = shlex.split(run.plugin_words)
    given = [value for word, value in itertools.pairwise(words) if word == "--plugin-option"]
    return " ".join(sorted(given)) if words else None


def _differing(runs: Sequence[ComparedRun], is_worse: IsWorse) -> Iterator[DifferingCase]:
    by_run = [{case.case: case.outcome for case in run.results.cases} for run in runs]
    for name in dict.fromkeys(name for outcomes in by_run for name in outcomes):
        found = tuple(outcomes.get(name) for outcomes in by_run)
        if len(set(found)) > 1:
            *earlier, now = (outcome for outcome in found if outcome is not None)
            before = next((outcome for outcome in reversed(earlier) if outcome not in UNJUDGED), now)
            yield DifferingCase(name, found, is_worse(before, now), now in _SHOWN_BETTER and is_worse(now, before))
