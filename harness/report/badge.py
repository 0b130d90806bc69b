"""A badge: the verdict of a run as a small picture for a page that has no room for more."""

from __future__ import annotations

from npu_conformance.harness.judge.outcome_table import SUITE_FAILED
from npu_conformance.harness.report.sections.head import verdict
from npu_conformance.harness.report.tally import tally
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.summary import Results

_LABEL = "NPU conformance"
_COLOURS = {"pass": "#18704a", "fail": "#b4232a", "suite-error": "#b4232a", "not-supported": "#7a5000"}
"""White text on each has a contrast of 4.5 at least."""
_NARROW, _WIDE = "iIl1.,:'|jtf() ", "mwMW%@"


def badge(results: Results) -> str:
    """Return the badge as SVG."""
    told = message(results)
    left, right = width(_LABEL), width(told)
    kind = verdict(results).kind
    return str(render("badge.svg", label=_LABEL, message=told, left=left, right=right, colour=_COLOURS[kind]))


def message(results: Results) -> str:
    """The verdict in a few words."""
    version = results.judged_as
    if results.conformant:
        return f"conformant {version}"
    if results.exit_code == SUITE_FAILED:
        return f"suite failed, {version}"
    counts = tally(results)
    if results.exit_code:
        return f"{counts.red or counted(len(results.red), 'finding')}, {version}"
    return f"{counts.excused or 'not fully tested'}, {version}"


def width(text: str) -> int:
    """About how wide a text is at 11 pixels, with a margin at both ends."""
    units = sum(4.0 if sign in _NARROW else 10.0 if sign in _WIDE else 7.0 for sign in text)
    return round(units) + 12
