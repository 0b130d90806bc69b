"""The HTML page of a run: one file, no network, works from a mail attachment and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.harness.report import templating
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.report.sections import (
    cases,
    crash_tests,
    failures,
    head,
    measurements,
    npu_timeline,
    operations,
    quality,
    requirements,
    waivers,
    work,
)
from npu_conformance.harness.report.shown_run import ORDER, ShownRun
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Results

_SECTIONS = (
    failures.section, measurements.costs, measurements.qualities, crash_tests.section, npu_timeline.section,
    operations.section, work.section, requirements.section, waivers.section, quality.section, cases.section,
)  # fmt: skip


def document(results: Results, verdicts: Iterable[CaseResult], replays: ReplayCommands) -> str:
    """Return the page. replays: makes the commands that run failures again, from the folder of the report."""
    ordered = sorted(verdicts, key=lambda result: (ORDER.index(result.outcome), result.case))
    run = ShownRun(results, ordered, replays)
    sections = [made for each in _SECTIONS if (made := each(run))]
    title = f"{results.manifest.name}: NPU conformance"
    return templating.page(title, head.head(run), sections, results.suite_version)
