"""What the sections of a page are made from, and what each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup

ORDER = (
    Outcome.SUITE_ERROR, Outcome.CRASH, Outcome.HANG, Outcome.FAIL,
    Outcome.NOT_RUN, Outcome.NOT_SUPPORTED, Outcome.PASS, Outcome.NOT_APPLICABLE,
)  # fmt: skip
"""Outcomes as they stand on a page: what needs work first."""
SIGNS = {
    "pass": "✓", "fail": "✗", "crash": "✗", "hang": "✗", "suite-error": "✗", "not-run": "✗",
    "not-supported": "–", "not-applicable": "·", "not-shown": "?",
}  # fmt: skip
"""A sign for each outcome: no page says anything by colour alone."""


class EarlierRun(msgspec.Struct, frozen=True):
    """A run that another one's figures stand beside. name: what its series is called."""

    name: str
    verdicts: Sequence[CaseResult]


class ShownRun(msgspec.Struct, frozen=True):
    """A run on a page. verdicts: what needs work first. replays: make the commands that run failures again."""

    results: Results
    verdicts: Sequence[CaseResult]
    replays: ReplayCommands
    earlier: EarlierRun | None = None


class Section(msgspec.Struct, frozen=True):
    """A part of a page. name: its anchor; note: how much is in it, behind its title."""

    name: str
    title: str
    note: str
    body: Markup
