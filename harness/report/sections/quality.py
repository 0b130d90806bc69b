"""Quality warnings: what the floor of the standard allows, and could be better; alike but for numbers, told once."""

from __future__ import annotations

import re

import msgspec

from npu_conformance.harness.report.lines import warnings
from npu_conformance.harness.report.shown_run import Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_CONFIGURATIONS = re.compile(r"^#[^:]*: ")
_SHOWN, _NAMED = 100, 3


class Group(msgspec.Struct):
    """Warnings that differ in numbers alone. text: of the first."""

    text: str
    cases: list[str] = msgspec.field(default_factory=list)


def section(run: ShownRun) -> Section | None:
    """The warnings, the most frequent first; None where there are none."""
    warned = [(result, told) for result in run.verdicts if (told := warnings(result))]
    if not warned:
        return None
    groups = grouped(warned)
    body = render("quality.html", groups=groups[:_SHOWN], more=len(groups) - _SHOWN, named=_NAMED)
    return Section("quality", "Quality warnings", counted(len(warned), "case"), body)


def grouped(warned: list[tuple[CaseResult, list[str]]]) -> list[Group]:
    """Warnings of one kind together, those of the most cases first."""
    found: dict[str, Group] = {}
    for result, told in warned:
        texts = (_CONFIGURATIONS.sub("", line) for line in told)
        for kind, text in {_NUMBER.sub("0", text): text for text in texts}.items():
            found.setdefault(kind, Group(text)).cases.append(result.case)
    return sorted(found.values(), key=lambda group: -len(group.cases))
