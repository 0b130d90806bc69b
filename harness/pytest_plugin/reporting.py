"""Says verdicts in pytest's words: its reports, and why a case is red or skipped."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from npu_conformance.harness.judge.outcome_table import row
from npu_conformance.harness.pytest_plugin.collecting import CaseItem
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult

if TYPE_CHECKING:
    from npu_conformance.harness.report.symptoms import Cause

_OUTCOMES: dict[str, Any] = {"passed": "passed", "skipped": "skipped", "xfailed": "skipped"}
_OPTION_OF_THE_COMMAND = re.compile(r"(?<![\w'-])--(?=[a-z])")


def usage_error(error: DocumentError | LoadError) -> pytest.UsageError:
    """The error as pytest's own. One that begins with an option of the command names the options of pytest instead."""
    text = str(error)
    return pytest.UsageError(_OPTION_OF_THE_COMMAND.sub("--npu-", text) if text.startswith("--") else text)


def reports(item: CaseItem, result: CaseResult) -> Iterator[pytest.TestReport]:
    """pytest's reports of a verdict; where it is red, as yet without an explanation."""
    from npu_conformance.harness.report.lines import excuse, first_reason

    word, now = row(result.outcome, result.dispositions).pytest, time.time()
    outcome = _OUTCOMES.get(word, "failed")
    # Without the id: pytest's summary then counts what was skipped for the same reason.
    skipped = (str(item.path), 0, f"{result.outcome.value}: {first_reason(result)}") if outcome == "skipped" else None
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome=outcome,
        longrepr=skipped,
        when="setup" if word == "error" else "call",
        duration=result.seconds,
        start=now - result.seconds,
        stop=now,
    )
    if word == "xfailed":
        report.wasxfail = excuse(result)
    yield report
    if item.config.getoption("xmlpath", None):
        # The JUnit writer closes a test case when it sees its tear-down.
        yield pytest.TestReport(item.nodeid, report.location, {}, "passed", None, "teardown")


class Explainer:
    """Explains verdicts on the terminal and in JUnit: at length for the first case of each symptom."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._first: dict[Cause, str] = {}

    def explain(self, report: pytest.TestReport, result: CaseResult) -> None:
        """Complete the report of a red verdict."""
        if report.outcome != "failed":
            return
        from npu_conformance.harness.report.lines import explain, first_reason, headline
        from npu_conformance.harness.report.symptoms import cause

        replays = self._session.replays
        whole = explain(result, replay=replays.of(result) if replays else "")
        first = self._first.setdefault(cause(result), result.case)
        shown = whole if first == result.case else f"{headline(result)}\n  as explained at {first}"
        longrepr: Any = Explanation(whole, shown, first_reason(result))
        report.longrepr = longrepr


class _Reason(str):
    """A line, as pytest asks for it."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The line."""
        return self


class Explanation:
    """Why a case is red: in a line on the terminal where an earlier case of the same symptom is explained there.

    reprcrash: where pytest looks for the reason of its short summary, and for the message in JUnit.
    """

    def __init__(self, whole: str, shown: str, reason: str) -> None:
        self.whole, self.shown = whole, shown
        self.reprcrash = _Reason(reason)

    def __str__(self) -> str:
        """All of it, for JUnit."""
        return self.whole

    def toterminal(self, tw: Any) -> None:
        """Print what the terminal shows."""
        for line in self.shown.splitlines():  # see _write of adapter
            tw.line(line)


def symptoms(summary: Summary) -> list[str]:
    """What went wrong, each symptom once; empty where nothing did."""
    from npu_conformance.harness.report import symptoms
    from npu_conformance.harness.report.summary import red_that_ran

    found = symptoms.grouped(red_that_ran(summary.verdicts))
    return list(symptoms.lines(found)) if found else []
