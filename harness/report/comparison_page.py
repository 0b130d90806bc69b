"""The page of several runs: side by side, and as a trend over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npu_conformance.harness.report import charts, durations, moved
from npu_conformance.harness.report.comparison import ComparedRun, Comparison
from npu_conformance.harness.report.moved import ComparedMeasurement
from npu_conformance.harness.report.shown_run import ORDER, SIGNS, Section
from npu_conformance.harness.report.templating import page, render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.outcomes import Outcome

_MOST = 2000
"""How many differing cases a page has."""


@dataclass(frozen=True)
class Column:
    """A run in the picture of the trend: its place, and its pieces from below (outcome, place, height)."""

    number: int
    x: float
    pieces: tuple[tuple[str, float, float], ...]


def document(comparison: Comparison) -> str:
    """Return the page."""
    sections = [made for made in (_runs(comparison), _differing(comparison), _measured(comparison)) if made]
    names = dict.fromkeys(run.results.manifest.name for run in comparison.runs)
    title = f"{', '.join(names)}: NPU conformance, {counted(len(comparison.runs), 'run')}"
    head = render("comparison_head.html", comparison=comparison, names=tuple(names))
    return page(title, head, sections, comparison.runs[-1].results.suite_version)


def _runs(comparison: Comparison) -> Section:
    outcomes = [
        outcome.value for outcome in Outcome if any(outcome.value in run.results.counts for run in comparison.runs)
    ]
    body = render(
        "comparison_runs.html",
        comparison=comparison,
        outcomes=outcomes,
        columns=tuple(_columns(comparison.runs)),
        durations=tuple(durations.lines(comparison.durations)),
        order="From below: " + ", ".join(outcome.value for outcome in reversed(ORDER) if outcome.value in outcomes),
    )
    return Section("runs", "Verdicts over time", counted(len(comparison.runs), "run"), body)


def _columns(runs: Sequence[ComparedRun]) -> Iterator[Column]:
    """The share of each outcome in each run; what is there at all is one unit high at least."""
    width = 720 / len(runs)
    for number, run in enumerate(runs):
        whole, top, pieces = max(1, sum(run.results.counts.values())), 100.0, []
        for outcome in reversed(ORDER):
            if count := run.results.counts.get(outcome.value, 0):
                height = max(2.0, count * 100 / whole)
                top -= height
                pieces.append((outcome.value, round(top, 1), round(height, 1)))
        yield Column(number + 1, round(number * width, 1), tuple(pieces))


def _differing(comparison: Comparison) -> Section | None:
    if not comparison.differing:
        return None
    body = render(
        "comparison_cases.html",
        comparison=comparison,
        differing=comparison.differing[:_MOST],
        more=len(comparison.differing) - _MOST,
        signs=SIGNS,
    )
    worse = sum(case.worse for case in comparison.differing)
    better = sum(case.better for case in comparison.differing)
    note = f"{counted(len(comparison.differing), 'case')}, {worse:,} worse and {better:,} better in the last run"
    return Section("differing", "Cases with different verdicts", note, body)


def _measured(comparison: Comparison) -> Section | None:
    """The measurements by name, each with a picture that has a line for each run: what moved furthest comes first."""
    by_name: dict[tuple[str, str], list[ComparedMeasurement]] = {}
    for each in _by_movement(comparison.measurements):
        by_name.setdefault((each.name, each.unit), []).append(each)
    if not by_name:
        return None
    figures = [
        (name.replace("_", " "), unit, _chart(name, unit, rows), _lines(rows), rows)
        for (name, unit), rows in by_name.items()
    ]
    far = moved.moved(comparison.measurements)
    body = render("comparison_measured.html", figures=figures, runs=comparison.runs, moved=far)
    note = f"{len(comparison.measurements):,}, of which {len(far):,} moved in the last run"
    return Section("measurements", "Measurements", note, body)


def _by_movement(measurements: Sequence[ComparedMeasurement]) -> list[ComparedMeasurement]:
    """The furthest first; what another implementation took stands behind the same of the one under test."""
    own = {_key(each): each.movement for each in measurements if not each.beside}
    return sorted(measurements, key=lambda each: (-own.get(_key(each), 0.0), _key(each)))


def _key(each: ComparedMeasurement) -> tuple[str, str, str]:
    return each.case, each.subject, each.name


def _lines(rows: Sequence[ComparedMeasurement]) -> str:
    return charts.meaning_of_lines([measured for row in rows for _, measured in _marks(row)])


def _chart(name: str, unit: str, rows: Sequence[ComparedMeasurement]) -> object:
    lines = [(f"{row.subject} {row.beside}".strip(), _marks(row)) for row in rows]
    return charts.intervals(f"{name.replace('_', ' ')} in {unit}, run by run", lines)


def _marks(row: ComparedMeasurement) -> list[tuple[int, Measurement]]:
    return [(number, each) for number, each in enumerate(row.measured) if each is not None]
