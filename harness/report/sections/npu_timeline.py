"""The NPU in time: when each app waited for it, loaded, inferred, was pre-empted, unloaded and died."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.report import charts
from npu_conformance.harness.report.shown_run import Section, ShownRun
from npu_conformance.harness.report.templating import figure, render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult, NpuSpan

if TYPE_CHECKING:
    from markupsafe import Markup

_MOST = 400
"""Spans of a case that are drawn and listed: hours of a full run stay a page that opens at once."""
_LEFT, _WIDTH = 70.0, 590.0
_ROW, _BAR = 26.0, 16.0
_HEIGHTS = {"blocked": 2.0, "loading": 8.0, "running": _BAR, "pre-empted": _BAR, "unloading": 8.0}
"""Phases differ in height and outline, not in colour alone."""
_WORDS = {
    "blocked": "blocked: waits for the manager",
    "loading": "loads its model",
    "running": "has the NPU and infers",
    "pre-empted": "has been asked to unload",
    "unloading": "has unloaded, and waits for the end of its request",
}


class Bar(msgspec.Struct, frozen=True):
    """One span in the drawing. text: all of it in words."""

    x: float
    y: float
    width: float
    height: float
    phase: str
    text: str


class App(msgspec.Struct, frozen=True):
    """An app in the table. seconds: in each phase, as they stand in PHASES. end: how it left, where by its death."""

    name: str
    seconds: tuple[float, ...]
    loads: int
    pre_emptions: int
    inferences: int
    end: str


class Timeline(msgspec.Struct, frozen=True):
    """The timeline of one case. left_out: spans behind those that are drawn and listed."""

    case: str
    apps: tuple[App, ...]
    spans: tuple[NpuSpan, ...]
    drawing: Markup
    left_out: int


def section(run: ShownRun) -> Section | None:
    """A drawing with its tables for each case that apps of the NPU were in; None without any."""
    timelines = [_timeline(result) for result in sorted(run.verdicts, key=lambda one: one.case) if result.timeline]
    if not timelines:
        return None
    key = [(phase, height, _WORDS[phase]) for phase, height in _HEIGHTS.items()]
    body = render("npu_timeline.html", timelines=timelines, phases=tuple(_HEIGHTS), key=key)
    return Section("npu-timeline", "NPU timeline", counted(len(timelines), "test"), body)


def _timeline(result: CaseResult) -> Timeline:
    spans = sorted(result.timeline, key=lambda span: (span.start, span.app))
    shown = tuple(spans[:_MOST])
    names = list(dict.fromkeys(span.app for span in result.timeline))
    apps = tuple(_app(name, [span for span in spans if span.app == name]) for name in names)
    return Timeline(result.case, apps, shown, _drawing(result.case, names, shown), len(spans) - len(shown))


def _app(name: str, spans: Sequence[NpuSpan]) -> App:
    seconds = tuple(sum(span.end - span.start for span in spans if span.phase == phase) for phase in _HEIGHTS)
    loads, pre_emptions = (sum(span.phase == phase for span in spans) for phase in ("running", "pre-empted"))
    died = any(span.death for span in spans)
    end = f"✗ died at {figure(spans[-1].end)} s, {spans[-1].phase}" if died else "✓ left"
    return App(name, seconds, loads, pre_emptions, sum(span.inferences for span in spans), end)


def _drawing(case: str, names: Sequence[str], spans: Sequence[NpuSpan]) -> Markup:
    axis = charts.Axis(0.0, max(span.end for span in spans) or 1.0, logarithmic=False, left=_LEFT, width=_WIDTH)
    lines = {name: _ROW * number for number, name in enumerate(names, 1)}
    bars = [_bar(axis, lines[span.app], span) for span in spans]
    deaths = [(axis.at(span.end), lines[span.app]) for span in spans if span.death]
    return render(
        "npu_timeline.svg", case=case, lines=lines.items(), bars=bars, deaths=deaths, ticks=axis.ticks(),
        left=_LEFT, bottom=_ROW * (len(names) + 0.7),
    )  # fmt: skip


def _bar(axis: charts.Axis, middle: float, span: NpuSpan) -> Bar:
    x, height = axis.at(span.start), _HEIGHTS[span.phase]
    text = f"{span.app}: {span.phase} from {figure(span.start)} to {figure(span.end)} s"
    if span.inferences:
        text += f", {counted(span.inferences, 'inference')}"
    width = round(max(axis.at(span.end) - x, 0.5), 1)
    return Bar(x, round(middle - height / 2, 1), width, height, span.phase, text)
