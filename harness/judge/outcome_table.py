"""The one table from outcome and disposition to exit code, pytest's word and JUnit's element."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Disposition, Outcome

OK, WRONG, USAGE, SUITE_FAILED = 0, 1, 2, 3
"""Exit codes: nothing wrong in what was selected; something is; usage, or no plug-in; suite failed or interrupted."""

PytestWord = Literal["passed", "failed", "skipped", "xfailed", "error"]
JunitElement = Literal["", "failure", "error", "skipped"]


class Row(msgspec.Struct, frozen=True):
    """What one outcome means to the outside. junit: the element inside <testcase>, empty for none."""

    exit_code: int
    pytest: PytestWord
    junit: JunitElement


_PLAIN: dict[Outcome, Row] = {
    Outcome.PASS: Row(OK, "passed", ""),
    Outcome.FAIL: Row(WRONG, "failed", "failure"),
    Outcome.CRASH: Row(WRONG, "failed", "error"),
    Outcome.HANG: Row(WRONG, "failed", "error"),
    Outcome.NOT_SUPPORTED: Row(OK, "skipped", "skipped"),
    Outcome.NOT_APPLICABLE: Row(OK, "skipped", "skipped"),
    Outcome.NOT_RUN: Row(WRONG, "failed", "error"),
    Outcome.SUITE_ERROR: Row(SUITE_FAILED, "error", "error"),
}
_EXCUSED = Row(OK, "xfailed", "skipped")
_LOST = _PLAIN[Outcome.FAIL]
"""Of what is no longer supported: a regression turns a run red wherever it is told."""
WAIVABLE = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG})
"""What a waiver can excuse. A case that was not run, and a bug of the suite, stay what they are."""
UNJUDGED = frozenset({Outcome.NOT_RUN, Outcome.SUITE_ERROR})
"""What says nothing of the subject: a resumption runs it again, since memory may have been full."""


def row(outcome: Outcome, dispositions: Iterable[Disposition] = ()) -> Row:
    """Return what an outcome with its dispositions means. A quality warning changes nothing."""
    said = tuple(dispositions)
    if Disposition.NO_LONGER_SUPPORTED in said:
        return _LOST
    waived = Disposition.WAIVED in said and outcome in WAIVABLE
    known = Disposition.KNOWN in said and outcome is not Outcome.SUITE_ERROR
    return _EXCUSED if waived or known else _PLAIN[outcome]


def is_red(outcome: Outcome, dispositions: Iterable[Disposition] = ()) -> bool:
    """True where the outcome alone makes the run end with something other than 0."""
    return row(outcome, dispositions).exit_code != OK


def decisive(result: CaseResult) -> list[ConfigurationResult]:
    """The configurations that explain what a case ended as: those that are red still, where others are waived."""
    alike = [part for part in result.configurations if part.outcome is result.outcome]
    if not is_red(result.outcome) and Disposition.NO_LONGER_SUPPORTED not in result.dispositions:
        return alike
    left = [part for part in result.configurations if is_red(part.outcome, part.dispositions)]
    return [part for part in left if part.outcome is result.outcome] or left or alike


def counts_as(outcome: Outcome, dispositions: Iterable[Disposition] = ()) -> Outcome:
    """The outcome that it is shown and sorted as: what is no longer supported has failed."""
    return Outcome.FAIL if Disposition.NO_LONGER_SUPPORTED in dispositions else outcome


def word(outcome: Outcome, dispositions: Iterable[Disposition] = ()) -> str:
    """The outcome in a word for people."""
    return "no longer supported" if Disposition.NO_LONGER_SUPPORTED in dispositions else outcome.value


def exit_code(codes: Iterable[int]) -> int:
    """The exit code of a run: the gravest of its parts; a failure of the suite outweighs all."""
    return max(codes, default=OK)
