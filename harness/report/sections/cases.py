"""All cases, folded by area, in tables that JavaScript filters where there is some."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.harness.report.lines import excuse, first_reason, warnings
from npu_conformance.harness.report.shown_run import ORDER, Section, ShownRun
from npu_conformance.harness.report.templating import render, visible
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Row:
    """A case. words: its outcome and what excuses it; evidence: the number of its set of requirements."""

    case: str
    outcome: str
    words: str
    reason: str
    warnings: Sequence[str]
    evidence: int


@dataclass(frozen=True)
class Area:
    """The cases of one area, such as vts.burst. told: how many ended how."""

    name: str
    told: str
    rows: Sequence[Row]


def section(run: ShownRun) -> Section | None:
    """The tables; None where no case was selected."""
    if not run.verdicts:
        return None
    sets: dict[tuple[str, ...], int] = {}
    by_area: dict[str, list[CaseResult]] = {}
    for result in run.verdicts:
        by_area.setdefault(".".join(result.case.split(".")[:2]), []).append(result)
    areas = [_area(name, results, sets) for name, results in by_area.items()]
    body = render("cases.html", areas=areas, evidence=_stored(sets))
    return Section("cases", "Cases", f"{len(run.verdicts):,}", body)


def _area(name: str, results: Sequence[CaseResult], sets: dict[tuple[str, ...], int]) -> Area:
    counted = Counter(result.outcome for result in results)
    told = ", ".join(f"{counted[outcome]:,} {outcome.value}" for outcome in ORDER if counted[outcome])
    return Area(name, told, [_row(result, sets) for result in results])


def _row(result: CaseResult, sets: dict[tuple[str, ...], int]) -> Row:
    outcome = result.outcome.value
    words = " ".join(filter(None, (outcome, excuse(result))))
    reason = "" if result.outcome is Outcome.PASS else first_reason(result)
    return Row(result.case, outcome, words, reason, warnings(result), sets.setdefault(result.requirements, len(sets)))


def _stored(sets: dict[tuple[str, ...], int]) -> Markup:
    """The sets of requirements as JSON for the filter, which nothing in it can end."""
    from markupsafe import Markup

    text = json.dumps([visible(" ".join(names)).lower() for names in sets], separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))
