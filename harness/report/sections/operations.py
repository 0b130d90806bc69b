"""The map of operations and types: a cell for each pair that was to be executed, by its gravest verdict.

Green is only what was executed, with right values: cases that see something invalid refused do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from npu_conformance.harness.report.shown_run import SIGNS, Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Counts, Results
from npu_conformance.specs.outcomes import Disposition, Outcome, worst

_PARTLY = "◐"
"""The sign of a pair of which the device supports a part."""


class Cell(msgspec.Struct, frozen=True):
    """The cases of one operation with one type. others: what did not pass, in words; warned: quality warnings."""

    gravest: str
    passed: int
    asked: int
    others: str
    warned: int

    @property
    def sign(self) -> str:
        """What tells the gravest outcome without colour."""
        return _PARTLY if self.gravest == Outcome.NOT_SUPPORTED.value and self.passed else SIGNS[self.gravest]


class Matrix(msgspec.Struct, frozen=True):
    """types: column by column; rows: each operation with its cells, None where nothing was asked."""

    types: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def section(run: ShownRun) -> Section | None:
    """The map; None where no operation was to be executed."""
    found = matrix(run.results, run.verdicts)
    if not found.rows:
        return None
    body = render("operations.html", matrix=found)
    return Section("operations", "Operations and types", counted(len(found.rows), "operation"), body)


def matrix(results: Results, verdicts: Iterable[CaseResult] = ()) -> Matrix:
    """Count what each pair of operation and type came to. verdicts: those whose quality warnings count."""
    found = ((entry, _applicable(entry.counts)) for entry in results.by_operation)
    asked = {(entry.operation, entry.type): counts for entry, counts in found if counts}
    warned = _warned(verdicts)
    types = sorted({kind for _, kind in asked})
    rows = tuple(
        (operation, tuple(cell(asked.get((operation, kind)), warned[operation, kind]) for kind in types))
        for operation in sorted({operation for operation, _ in asked})
    )
    return Matrix(tuple(map(_short, types)), rows)


def _warned(verdicts: Iterable[CaseResult]) -> Counter[tuple[str, str]]:
    """How many cases executed each pair with a quality warning."""
    warned = (result for result in verdicts if Disposition.QUALITY_WARNING in result.dispositions)
    return Counter(
        (operation, kind)
        for result in warned
        for operation, types in result.executed.items()
        for kind in types or ("",)
    )


def _short(kind: str) -> str:
    """Return a type's short name: tensors are the rule, so only scalars say what they are."""
    if not kind:
        return "any"
    told = kind.removeprefix("TENSOR_").lower().replace("_", " ")
    return told if kind.startswith("TENSOR_") else f"{told} scalar"


def _applicable(counts: Counts) -> Counts:
    return {name: count for name, count in counts.items() if name != Outcome.NOT_APPLICABLE.value}


def cell(counts: Counts | None, warned: int = 0) -> Cell | None:
    """A cell of such a table; None where nothing was asked."""
    if counts is None:
        return None
    passed, gravest = counts.get(Outcome.PASS.value, 0), worst(*map(Outcome, counts)).value
    if gravest == Outcome.PASS.value and Outcome.NOT_SUPPORTED.value in counts:
        gravest = Outcome.NOT_SUPPORTED.value  # partly: what is missing is what a reader looks for
    told = (f"{count} {name}" for name, count in counts.items() if name != Outcome.PASS.value)
    # Where all others are not supported, the sign says so already.
    others = "" if gravest == Outcome.NOT_SUPPORTED.value else ", ".join(told)
    return Cell(gravest, passed, sum(counts.values()), others, warned)
