"""`npu-conformance requirements`: prints each requirement with its cases, or why it has none.

A case that fails counts against what the failing check is about; of its other requirements results.json says not-shown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, get_args

from npu_conformance.cli.commands._options import add_catalogue_option
from npu_conformance.cli.commands._output import print_json
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.harness.run.cases import Case
    from npu_conformance.specs.requirements import Requirement


_WITH_SOURCES = 10
"""How many requirements are shown with their sources in any case."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("patterns", metavar="ID", nargs="*", help="ids or globs such as NNHAL-QUERY-* (default: all)")
    parser.add_argument("--untested", action="store_true", help="list only the requirements without a case")
    parser.add_argument("--cases", action="store_true", help="print all sources, and the cases with their descriptions")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_catalogue_option(parser)


def execute(options: argparse.Namespace) -> int:
    """Print the trace."""
    from npu_conformance.harness.run import index

    meant, evidence, reasons = _meant(options.patterns), index.evidence(), _reasons()
    if options.untested:
        meant = [entry for entry in meant if entry.id not in evidence]
    rows = [_row(entry, evidence.get(entry.id, ()), reasons.get(entry.id, "")) for entry in meant]
    if options.json:
        print_json(rows)
        return OK
    cases = _cases({name for entry in meant for name in evidence.get(entry.id, ())}) if options.cases else {}
    for entry, row in zip(meant, rows, strict=True):
        _print(row)
        if options.cases or len(rows) <= _WITH_SOURCES:
            _print_source(entry)
        for name in evidence.get(entry.id, ()) if options.cases else ():
            print(f"    {name}  {cases[name].headline}")
    if options.cases:
        print("A case that fails counts against the requirement of its failing check; its others are not shown.")
    print(_counted(rows))
    return OK


def _row(entry: Requirement, cases: Iterable[str], reason: str) -> dict[str, object]:
    """A requirement as JSON has it. cases: their ids. reason: why a generated one has no case."""
    return {
        "id": entry.id, "level": entry.level, "since": entry.since.value, "until": entry.until.value,
        "statement": entry.statement, "sources": entry.sources, "untested": entry.untested or reason,
        "cases": list(cases),
    }  # fmt: skip


def _counted(rows: Collection[Mapping[str, object]]) -> str:
    from npu_conformance.specs.requirements import Level

    levels = Counter(str(row["level"]) for row in rows)
    told = ", ".join(f"{levels[level]} {level}" for level in get_args(Level) if levels[level])
    tested = sum(bool(row["cases"]) for row in rows)
    explained = sum(bool(row["untested"]) and not row["cases"] for row in rows)
    remaining = len(rows) - tested - explained
    evidence = f"{tested} with cases, {explained} with a written reason, {remaining} open"
    return f"{counted(len(rows), 'requirement')} ({told}): {evidence}"


def _meant(patterns: Sequence[str]) -> list[Requirement]:
    """The requirements that one of the patterns means, in their own order. Raises UsageError for one without any."""
    from npu_conformance.specs import requirements

    known = list(requirements.all_requirements())
    meant: set[str] = set()
    for pattern in patterns:
        try:
            meant.update(requirements.expand(pattern))
        except LookupError:
            near = did_you_mean(pattern.upper(), (entry.id for entry in known)) or "; ids look like NNHAL-QUERY-003"
            raise UsageError(f"no requirement matches {pattern!r}{near}") from None
    return [entry for entry in known if entry.id in meant or not patterns]


def _cases(ids: Set[str]) -> dict[str, Case]:
    """Return the cases with these ids, of which only their areas are imported."""
    from npu_conformance.harness.run.cases import Scope
    from npu_conformance.harness.run.selection import Wanted, select

    areas = {".".join(name.split(".")[:2]) for name in ids}
    wanted = Wanted(tuple(areas), scope=Scope.FULL, only=frozenset(ids))
    return {case.id: case for case in select(wanted).cases} if ids else {}


def _reasons() -> dict[str, str]:
    """Return why a clause of an operation has no rejection vector, by the requirement's id."""
    from npu_conformance.corpus.generators import unreached
    from npu_conformance.specs.neuralnetworks import rules
    from npu_conformance.specs.requirements import clause_requirement

    clauses = (clause for operation in rules.operations() for clause in rules.clauses(operation))
    return {clause_requirement(clause.id): unreached.reason(clause) for clause in clauses}


def _print(row: Mapping[str, object]) -> None:
    cases = row["cases"]
    assert isinstance(cases, list)
    state = counted(len(cases), "case") if cases else f"untested: {row['untested']}" if row["untested"] else "NO CASE"
    print(f"{row['id']} {row['level']} ({state}) {row['statement']}")


def _print_source(entry: Requirement) -> None:
    from npu_conformance.harness.report.rule import where

    print(f"    source: {where(entry)}")
