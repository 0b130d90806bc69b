"""The page's table of operations and types: a cell for each pair that has cases, coloured by its gravest verdict."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from npu_conformance.specs.documents.summary import Counts, Results
from npu_conformance.specs.outcomes import Outcome, worst


def matrix(results: Results) -> Iterator[str]:
    """The table as lines of HTML; nothing where no case names an operation."""
    asked = {(entry.operation, entry.type): entry.counts for entry in results.by_operation}
    if not asked:
        return
    operations = sorted({operation for operation, _ in asked})
    types = sorted({kind for _, kind in asked})
    yield f"<h2>Operations and types <small>{len(operations)} operations</small></h2>"
    yield "<p>Passed of the cases that apply; a case counts with each of its operations and types.</p>"
    yield "<div class=scroll><table class=matrix><tr><th>"
    yield "".join(f"<th><span>{escape(_short(kind))}</span>" for kind in types)
    for operation in operations:
        cells = "".join(_cell(asked.get((operation, kind), {})) for kind in types)
        yield f"<tr><th>{escape(operation)}{cells}"
    yield "</table></div>"


def _short(kind: str) -> str:
    """Return a type's short name: tensors are the rule, so only scalars say what they are."""
    if not kind:
        return "any"
    told = kind.removeprefix("TENSOR_").lower().replace("_", " ")
    return told if kind.startswith("TENSOR_") else f"{told} scalar"


def _cell(counts: Counts) -> str:
    applicable = {name: count for name, count in counts.items() if name != Outcome.NOT_APPLICABLE.value}
    if not applicable:
        return "<td>"
    gravest = worst(*map(Outcome, applicable)).value
    told = ", ".join(f"{count} {name}" for name, count in applicable.items())
    passed = applicable.get(Outcome.PASS.value, 0)
    return f'<td class="cell {gravest}" title="{told}">{passed}/{sum(applicable.values())}'
