"""All cases, folded by area, in tables that JavaScript filters where there is some."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.judge.outcome_table import counts_as, word
from npu_conformance.harness.report.lines import excuse, first_reason, warnings
from npu_conformance.harness.report.shown_run import ORDER, Section, ShownRun
from npu_conformance.harness.report.templating import render, visible
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup

_TOLD, _LONGEST, _WARNINGS = 2000, 200, 3
"""How many cases have their reasons and warnings told, and how many characters and warnings of each."""
_ALL: Collection[str] = ()
"""Stands for every case."""


class Row(msgspec.Struct, frozen=True):
    """A case. outcome: what it counts as. words: how it ended and what excuses it.

    evidence: the number of its set of requirements. reason, warnings: in short, and empty where there is no room for
    them; warned: whether there are any.
    """

    case: str
    outcome: str
    words: str
    reason: str
    warned: bool
    warnings: Sequence[str]
    evidence: int


class Area(msgspec.Struct, frozen=True):
    """The cases of one area, such as vts.burst. told: how many ended how."""

    name: str
    told: str
    rows: Sequence[Row]


def section(run: ShownRun) -> Section | None:
    """The tables; None where no case was selected."""
    if not run.verdicts:
        return None
    told = _told(run.verdicts)
    sets: dict[tuple[str, ...], int] = {}
    by_area: dict[str, list[CaseResult]] = {}
    for result in run.verdicts:
        by_area.setdefault(".".join(result.case.split(".")[:2]), []).append(result)
    areas = [_area(name, results, sets, told) for name, results in by_area.items()]
    body = render("cases.html", areas=areas, evidence=_stored(sets), most=_TOLD, untold=told is not _ALL)
    return Section("cases", "Cases", f"{len(run.verdicts):,}", body)


def _told(verdicts: Sequence[CaseResult]) -> Collection[str]:
    """The cases whose reasons and warnings are told: the gravest, so that the page of any run stays small."""
    found = [result.case for result in verdicts if _counts_as(result) is not Outcome.PASS or warnings(result)]
    return _ALL if len(found) <= _TOLD else frozenset(found[:_TOLD])


def _area(name: str, results: Sequence[CaseResult], sets: dict[tuple[str, ...], int], told: Collection[str]) -> Area:
    counted = Counter(result.outcome for result in results)
    words = ", ".join(f"{counted[outcome]:,} {outcome.value}" for outcome in ORDER if counted[outcome])
    return Area(name, words, [_row(result, sets, told is _ALL or result.case in told) for result in results])


def _row(result: CaseResult, sets: dict[tuple[str, ...], int], told: bool) -> Row:
    ended = _counts_as(result)
    words = " ".join(filter(None, (word(result.outcome, result.dispositions), excuse(result))))
    reason = first_reason(result) if told and ended is not Outcome.PASS else ""
    number = sets.setdefault(result.requirements, len(sets))
    warned = warnings(result)
    return Row(
        result.case, ended.value, words, shorten(reason, _LONGEST, placeholder=" …"), bool(warned),
        warned[:_WARNINGS] if told else (), number,
    )  # fmt: skip


def _counts_as(result: CaseResult) -> Outcome:
    return counts_as(result.outcome, result.dispositions)


def _stored(sets: dict[tuple[str, ...], int]) -> Markup:
    """The sets of requirements as JSON for the filter, which nothing in it can end."""
    from markupsafe import Markup

    text = json.dumps([visible(" ".join(names)).lower() for names in sets], separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))
