"""What is wrong: the symptoms in a list, then the first cases of each, those of the gravest outcome first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.harness.judge.outcome_table import counts_as, word
from npu_conformance.harness.report import symptoms
from npu_conformance.harness.report.lines import attribution, details, excuse, first_reason
from npu_conformance.harness.report.shown_run import ORDER, SIGNS, Section, ShownRun
from npu_conformance.harness.report.summary import excused_that_ran, excuses, red_that_ran
from npu_conformance.harness.report.symptoms import Symptom
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult

_SHOWN, _EXPLAINED = 3, 500
"""How many cases of a symptom are unfolded, and how many cases are explained; the others are in the table."""


class Failure(msgspec.Struct, frozen=True):
    """A red case as it is told. outcome: what it counts as; word: how it ended. excuse: waived, known, or nothing.

    text: the rule, expected and actual, the command of a replay.
    """

    case: str
    outcome: str
    word: str
    sign: str
    excuse: str
    source: str
    reason: str
    text: str


class Causes(msgspec.Struct, frozen=True):
    """A line for each cause: the most frequent are in sight, the others behind a fold."""

    shown: list[str]
    others: list[str]


def section(run: ShownRun) -> Section | None:
    """The red cases that ran; None where there are none."""
    found = symptoms.grouped(red_that_ran(run.verdicts))
    if not found:
        return None
    count = sum(len(symptom.cases) for symptom in found)
    gravest = sorted(found, key=lambda symptom: ORDER.index(symptom.outcome))
    body = render(
        "failures.html",
        causes=_causes(found) if count > 1 else None,
        groups=_explained([symptom.cases for symptom in gravest], run, _SHOWN),
        opened=True,
        more=max(0, count - _EXPLAINED),
    )
    return Section("failures", "What is wrong", counted(count, "case"), body)


def excused(run: ShownRun) -> Section | None:
    """The cases that are waived or known to the baseline, all behind folds; None where there are none."""
    cases = excused_that_ran(run.verdicts)
    if not cases:
        return None
    found = symptoms.grouped(cases)
    groups = _explained([symptom.cases for symptom in found], run, in_sight=1)
    more = max(0, len(cases) - _EXPLAINED)
    body = render("failures.html", causes=_causes(found), groups=groups, opened=False, more=more)
    return Section("excused", "What is waived or known", excuses(cases), body)


def _causes(found: Sequence[Symptom]) -> Causes:
    """All symptoms as lines."""
    shown, others = ([symptom.line().strip() for symptom in part] for part in symptoms.split(found))
    return Causes(shown, others)


def _explained(
    groups: Sequence[Sequence[CaseResult]], run: ShownRun, in_sight: int
) -> list[tuple[list[Failure], list[Failure]]]:
    """The cases of each symptom: those in sight, and those behind a fold; _EXPLAINED in all."""
    told, room = [], _EXPLAINED
    for cases in groups:
        failures = [_failure(result, run) for result in cases[: max(room, 0)]]
        told.append((failures[:in_sight], failures[in_sight:]))
        room -= len(cases)
    return [group for group in told if group[0]]


def _failure(result: CaseResult, run: ShownRun) -> Failure:
    replay = run.replays.of(result)
    lines = details(result, f"$ {replay}" if replay else "")
    outcome = counts_as(result.outcome, result.dispositions).value
    return Failure(
        case=result.case,
        outcome=outcome,
        word=word(result.outcome, result.dispositions),
        sign=SIGNS[outcome],
        excuse=excuse(result),
        source=attribution(result),
        reason=first_reason(result),
        text="\n".join(lines),
    )
