"""The crash tests of MLTS: how each client process ended, in MLTS's four words (ML-CRS-001)."""

from __future__ import annotations

import msgspec

from npu_conformance.harness.report.crash_words import WORDS, is_crash_test
from npu_conformance.harness.report.lines import excuse, first_reason
from npu_conformance.harness.report.shown_run import SIGNS, Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import DESCRIPTION, CaseResult
from npu_conformance.specs.outcomes import Outcome


class Row(msgspec.Struct, frozen=True):
    """A crash test. ends: how many clients ended in each of WORDS, and otherwise. bad: clients that did not succeed."""

    case: str
    outcome: str
    excuse: str
    ends: tuple[int, ...]
    bad: tuple[str, ...]
    reason: str

    @property
    def sign(self) -> str:
        """What tells the outcome without colour."""
        return SIGNS[self.outcome]


def section(run: ShownRun) -> Section | None:
    """The table; None where no crash test was selected."""
    rows = [_row(result) for result in run.verdicts if is_crash_test(result)]
    if not rows:
        return None
    body = render("crash_tests.html", rows=rows, words=(*WORDS, "other"))
    return Section("crash-tests", "Crash tests", counted(len(rows), "test"), body)


def _row(result: CaseResult) -> Row:
    ends = [part.outcome for part in result.configurations]
    counted = [ends.count(outcome) for outcome in WORDS.values()]
    bad = tuple(
        f"{part.name}: {part.outcome.value}" + (f": {part.message}" if part.message else "")
        for part in result.configurations
        if part.outcome is not Outcome.PASS
    )
    return Row(
        result.case,
        result.outcome.value,
        excuse(result),
        (*counted, len(ends) - sum(counted)),
        bad,
        first_reason(result) or str(result.notes.get(DESCRIPTION, "")),
    )
