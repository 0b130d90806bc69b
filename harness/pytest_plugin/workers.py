"""The suites in workers of pytest-xdist: each has a subject of its own, and the controller keeps the one report.

A worker sends each verdict with pytest's own report of it, and with the first one the header of its part of the run.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest

from npu_conformance.harness.pytest_plugin.reporting import Explainer, usage_error
from npu_conformance.harness.run import failures
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.folders import FAILURES
from npu_conformance.harness.run.session import Session
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import FAILURE_FILE, NOT_WRITTEN, CaseResult, Event, RunStarted
from npu_conformance.specs.outcomes import Outcome

_REPORT = "npu_report"
_HEADER, _VERDICT = "npu_header", "npu_verdict"


def is_worker(config: pytest.Config) -> bool:
    """True in a worker of xdist."""
    return hasattr(config, "workerinput")


def is_controller(config: pytest.Config) -> bool:
    """True where xdist has workers that run the tests."""
    return config.pluginmanager.has_plugin("dsession")


def count(config: pytest.Config) -> int:
    """How many workers there are, asked of one."""
    return int(config.workerinput["workercount"])  # type: ignore[attr-defined]


def report_folder(config: pytest.Config) -> str:
    """The folder in which a worker keeps its part, until the controller fetches what it needs."""
    return str(config.workerinput[_REPORT])  # type: ignore[attr-defined]


class Worker:
    """A sink of a worker's part of the run, which sends what the controller needs with pytest's reports."""

    def __init__(self) -> None:
        self._header: RunStarted | None = None

    def write(self, event: Event) -> None:
        """Keep the header until it is sent."""
        if isinstance(event, RunStarted):
            self._header = event

    @property
    def owes_header(self) -> bool:
        """True until a verdict has told the controller of the run."""
        return self._header is not None

    def send(self, report: pytest.TestReport, result: CaseResult) -> None:
        """Attach a verdict to its report."""
        setattr(report, _VERDICT, msgspec.json.encode(result).decode())
        if self._header is not None:
            setattr(report, _HEADER, msgspec.json.encode(self._header).decode())
            self._header = None


class Controller:
    """Brings the verdicts of all workers together. A plug-in of pytest, where xdist has workers."""

    def __init__(self, session: Session, explainer: Explainer) -> None:
        self._session = session
        self._explainer = explainer
        self._parts = TemporaryDirectory(prefix="npu-conformance-")
        self._died: list[pytest.TestReport] = []

    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker a folder for its part of the report."""
        node.workerinput[_REPORT] = str(self._part(node.gateway.id))

    def pytest_unconfigure(self) -> None:
        """Remove what the workers left behind."""
        self._parts.cleanup()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the verdict that comes with a report, and explain it here, where the report is kept."""
        if (header := getattr(report, _HEADER, None)) and not self._session.started:
            self._begin(msgspec.json.decode(header, type=RunStarted))
        if verdict := getattr(report, _VERDICT, None):
            result = msgspec.json.decode(verdict, type=CaseResult)
            if not self._session.started:  # the worker could not start its subject
                raise pytest.UsageError(result.message)
            self._fetch_failure(result, report.worker_id)
            self._session.take(result)
            self._explainer.explain(report, result)
        elif hasattr(report, "node") and not hasattr(report, "worker_id"):
            self._died.append(report)
            self._record_deaths()

    def _begin(self, part: RunStarted) -> None:
        """Start the report. A worker knows what is selected; this process collects nothing."""
        cases = [Case(name, _runs_elsewhere, ()) for name in part.cases]
        try:
            self._session.start(cases, part.selection)
        except (LoadError, DocumentError) as error:
            raise usage_error(error) from None
        self._session.begin()
        self._record_deaths()

    def _record_deaths(self) -> None:
        """Say of the case in which a worker died that the suite failed: an isolated subject cannot kill it."""
        for report in self._died if self._session.started else ():
            case = report.nodeid.partition("::")[2]
            if self._session.owes(case):
                outcome, reason = Outcome.SUITE_ERROR, "the worker of pytest-xdist died while it ran the case"
                self._session.take(CaseResult(case=case, outcome=outcome, own_outcome=outcome, message=reason))

    def _fetch_failure(self, result: CaseResult, worker: str) -> None:
        """Move the failure file of a red case into the report, as soon as the case has ended.

        One that somebody has spoilt is told as one that could not be written.
        """
        folder = self._session.folder
        file = self._part(worker) / FAILURES / str(result.notes.get(FAILURE_FILE, ""))
        if folder is not None and file.is_file():
            try:
                failures.move(file, folder / FAILURES, self._session.options.plugin_words)
            except DocumentError as error:
                result.notes[FAILURE_FILE] = f"{NOT_WRITTEN}{error}"

    def _part(self, worker: str) -> Path:
        return Path(self._parts.name, worker)


def _runs_elsewhere(context: CaseContext) -> None:
    raise RuntimeError("a worker runs this case")
