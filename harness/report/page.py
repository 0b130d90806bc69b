"""The HTML page of a run: one file, no network, works from a mail attachment and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npu_conformance.harness.judge.outcome_table import counts_as
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
from npu_conformance.harness.report.shown_run import ORDER, EarlierRun, Section, ShownRun
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Results

_SECTIONS = (
    failures.section, failures.excused, measurements.costs, measurements.qualities, crash_tests.section,
    npu_timeline.section, operations.section, work.section, requirements.section, waivers.section,
    quality.section, cases.section,
)  # fmt: skip

_BEHIND = "requirements"
"""Further sections stand before this one."""


def document(
    results: Results,
    verdicts: Iterable[CaseResult],
    replays: ReplayCommands,
    *,
    earlier: EarlierRun | None = None,
    further: Sequence[Section] = (),
) -> str:
    """Return the page. replays: makes the commands that run failures again, from the folder of the report.

    earlier: whose figures stand beside those of this run. further: sections of what belongs to the run and is no part
    of it, such as a campaign of fuzzers; they stand before the requirements.
    """
    ordered = sorted(verdicts, key=_place)
    run = ShownRun(results, ordered, replays, earlier)
    sections = [made for each in _SECTIONS if (made := each(run))]
    place = next((number for number, one in enumerate(sections) if one.name == _BEHIND), len(sections))
    sections[place:place] = further
    title = f"{results.manifest.name}: NPU conformance"
    return templating.page(title, head.head(run), sections, results.suite_version)


def _place(result: CaseResult) -> tuple[int, str]:
    return ORDER.index(counts_as(result.outcome, result.dispositions)), result.case
