"""What was measured: times and sizes, then accuracy; each figure as a chart, beside the baseline, and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.report import charts, templating
from npu_conformance.harness.report.crash_words import is_crash_test
from npu_conformance.harness.report.shown_run import Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult, Measurement

if TYPE_CHECKING:
    from markupsafe import Markup

COSTS = frozenset({"ms", "per second", "bytes"})
"""Units of what an inference costs; all others say how good its results are."""


_FIRST = ("inference", "inference_on_device", "first_inference", "burst", "prepare", "top_1", "agreement")
"""What a reader looks for first; the rest follows as the cases measured it."""

_NOTABLE = 0.01
_WORDS = {"ms": ("faster", "slower"), "per second": ("slower", "faster"), "bytes": ("smaller", "larger")}
"""What a ratio below and above 1 means."""

_SPREAD = frozenset({"inference"})
"""Costs whose histograms are drawn: of the others the percentiles say enough, and the page stays small."""


class Row(msgspec.Struct, frozen=True):
    """A measurement in a table. device: name of the plug-in that it was measured on. ratio: to the baseline's."""

    subject: str
    case: str
    device: str
    measured: Measurement
    ratio: float | None

    @property
    def told(self) -> str:
        """The ratio with a word, from one percent on (ML-REP-002); empty where there is none."""
        if self.ratio is None:
            return ""
        less, more = _WORDS.get(self.measured.unit, ("less", "more"))
        word = "same" if abs(self.ratio - 1.0) < _NOTABLE else less if self.ratio < 1.0 else more
        return f"{templating.figure(self.ratio)} {word}"


class Figure(msgspec.Struct, frozen=True):
    """All that was measured under one name. series: the plug-ins, the one under test first. percentiles: as columns."""

    name: str
    unit: str
    series: tuple[str, ...]
    chart: Markup
    rows: tuple[Row, ...]
    percentiles: tuple[str, ...]
    histograms: tuple[tuple[str, Measurement, Markup], ...]

    @property
    def is_bounded(self) -> bool:
        """True where something says what is allowed."""
        return any(row.measured.bound is not None for row in self.rows)

    @property
    def lines(self) -> str:
        """What the lines of the chart are, of those that it has."""
        return charts.meaning_of_lines([row.measured for row in self.rows])


Measured = list[tuple[str, Measurement]]
"""Measurements with the ids of their cases."""


def costs(run: ShownRun) -> Section | None:
    """Latency, throughput and sizes, and what crash tests measure; None where nothing of the kind was measured."""
    return _section(run, "latency", "Latency and cost", _is_cost)


def qualities(run: ShownRun) -> Section | None:
    """Accuracy and errors; None where nothing of the kind was measured."""
    return _section(run, "accuracy", "Accuracy and errors", lambda result, measured: not _is_cost(result, measured))


def _is_cost(result: CaseResult, measured: Measurement) -> bool:
    return measured.unit in COSTS or is_crash_test(result)


def _section(run: ShownRun, name: str, title: str, wanted: Callable[[CaseResult, Measurement], bool]) -> Section | None:
    found: dict[tuple[str, str], Measured] = {}
    for result in sorted(run.verdicts, key=lambda result: result.case):
        for measured in result.measurements:
            if wanted(result, measured):
                found.setdefault((measured.name, measured.unit), []).append((result.case, measured))
    if not found:
        return None
    _add_earlier(found, run)
    under_test = run.results.manifest.name
    figures = [figure(name, unit, found[name, unit], under_test) for name, unit in sorted(found, key=_place)]
    models = {measured.subject for all_of_it in found.values() for _, measured in all_of_it}
    return Section(name, title, counted(len(models), "model"), render("measurements.html", figures=figures))


def _add_earlier(found: dict[tuple[str, str], Measured], run: ShownRun) -> None:
    """Put what an earlier run measured on the same implementation beside the same of this one."""
    if run.earlier is None:
        return
    own = {(case, measured.subject, key) for key, each in found.items() for case, measured in each}
    for result in run.earlier.verdicts:
        for measured in result.measurements:
            key = (measured.name, measured.unit)
            if not measured.beside and (result.case, measured.subject, key) in own:
                found[key].append((result.case, replace(measured, beside=run.earlier.name)))
    for each in found.values():
        each.sort(key=_line)


def _line(pair: tuple[str, Measurement]) -> tuple[str, str]:
    """What is of one subject stands together."""
    return pair[0], pair[1].subject


def _place(key: tuple[str, str]) -> int:
    """Where a figure stands among the others; those of equal place keep their order."""
    return _FIRST.index(key[0]) if key[0] in _FIRST else len(_FIRST)


def figure(name: str, unit: str, found: Measured, under_test: str) -> Figure:
    """The chart and the table of all that was measured under one name."""
    series = tuple(dict.fromkeys(["", *(measured.beside for _, measured in found)]))
    names = tuple(each or under_test for each in series)
    spoken = name.replace("_", " ")
    rows = _rows(found, under_test)
    return Figure(
        spoken,
        unit,
        names,
        charts.intervals(f"{spoken} in {unit}", _lines(found, series)),
        rows,
        tuple(sorted({number for row in rows for number in row.measured.percentiles}, key=float)),
        tuple(_histograms(spoken, rows) if unit not in COSTS or name in _SPREAD else ()),
    )


def _lines(found: Measured, series: Sequence[str]) -> list[tuple[str, list[tuple[int, Measurement]]]]:
    """What stands on each line of the chart: the measurements of a subject in a case."""
    lines: dict[tuple[str, str], list[tuple[int, Measurement]]] = {}
    for case, measured in found:
        lines.setdefault((measured.subject, case), []).append((series.index(measured.beside), measured))
    subjects = [subject for subject, _ in lines]
    return [
        (
            subject if subjects.count(subject) == 1 else f"{subject} ({case.rpartition('.')[2]})",
            sorted(line, key=_first),
        )
        for (subject, case), line in lines.items()
    ]


def _first(pair: tuple[int, Measurement]) -> int:
    return pair[0]


def _rows(found: Measured, under_test: str) -> tuple[Row, ...]:
    own = {(case, measured.subject): measured.value for case, measured in found if not measured.beside}

    def ratio(case: str, measured: Measurement) -> float | None:
        value = own.get((case, measured.subject))
        return value / measured.value if measured.beside and measured.value and value is not None else None

    return tuple(
        Row(measured.subject, case, measured.beside or under_test, measured, ratio(case, measured))
        for case, measured in found
    )


def _histograms(name: str, rows: Sequence[Row]) -> list[tuple[str, Measurement, Markup]]:
    titled = [(f"{name} of {row.subject} on {row.device}", row.measured) for row in rows if row.measured.buckets]
    return [(title, measured, charts.histogram(title, measured)) for title, measured in titled]
