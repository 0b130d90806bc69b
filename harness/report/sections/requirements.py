"""The requirement matrix: what the run touched, each with its sentence, its source and what its cases say."""

from __future__ import annotations

import msgspec

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.kept import kept
from npu_conformance.harness.report.rule import where
from npu_conformance.harness.report.shown_run import ORDER, SIGNS, Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs import requirements
from npu_conformance.specs.documents.summary import Counts
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.requirements import Requirement

_LISTED = 60
"""How many requirements of an area that no case is about are named."""
_UNKNOWN = "unknown to this version of the suite"
_RED = frozenset(outcome.value for outcome in Outcome if is_red(outcome))
_WORDS = (*(outcome.value for outcome in ORDER), "not-shown")


class Row(msgspec.Struct, frozen=True):
    """A requirement. said: what its cases say, gravest first; kind: the gravest of that."""

    id: str
    level: str
    statement: str
    source: str
    said: str
    kind: str

    @property
    def sign(self) -> str:
        """What tells its kind without colour."""
        return SIGNS[self.kind]


class Area(msgspec.Struct, frozen=True):
    """The requirements of one area. untouched: ids of those that no case of this run is about."""

    name: str
    rows: tuple[Row, ...]
    untouched: tuple[str, ...]

    @property
    def broken(self) -> int:
        """How many have a red case."""
        return sum(row.kind in _RED for row in self.rows)

    @property
    def shown(self) -> int:
        """How many have nothing but cases that passed, or do not apply."""
        return sum(row.kind == Outcome.PASS.value for row in self.rows)


def section(run: ShownRun) -> Section | None:
    """The matrix by area; None where the run's cases name no requirement."""
    counts = run.results.by_requirement
    if not counts:
        return None
    areas = found(counts)
    rows = [row for area in areas for row in area.rows]
    note = f"{len(rows):,} touched, {sum(area.broken for area in areas):,} with a red case"
    body = render("requirements.html", areas=areas, listed=_LISTED)
    return Section("requirements", "Requirements", note, body)


def found(counts: dict[str, Counts]) -> list[Area]:
    """The areas that the run touched, those with red cases first, then in the catalogues' order."""
    by_area: dict[str, list[Row]] = {}
    untouched: dict[str, list[str]] = {}
    for entry in kept("requirements", tuple[Requirement, ...], lambda: tuple(requirements.all_requirements())):
        if entry.id in counts:
            by_area.setdefault(entry.area, []).append(_row(entry.id, entry, counts[entry.id]))
        else:
            untouched.setdefault(entry.area, []).append(entry.id)
    known = {row.id for rows in by_area.values() for row in rows}
    if strange := [_row(name, None, said) for name, said in counts.items() if name not in known]:
        by_area[_UNKNOWN] = strange
    areas = [Area(name, tuple(rows), tuple(untouched.get(name, ()))) for name, rows in by_area.items()]
    return sorted(areas, key=lambda area: not area.broken)


def _row(name: str, entry: Requirement | None, counts: Counts) -> Row:
    ordered = [word for word in _WORDS if word in counts]
    said = ", ".join(f"{counts[word]:,} {word}" for word in ordered)
    if entry is None:
        return Row(name, "", _UNKNOWN, "", said, ordered[0])
    return Row(name, entry.level, entry.statement, where(entry), said, ordered[0])
