"""The page's table of operations and types: a cell for each pair that was to be executed, by its gravest verdict.

Green is only what was executed, with right values: cases that see something invalid refused do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from npu_conformance.specs.documents.summary import Counts, Results
from npu_conformance.specs.outcomes import Outcome, worst


def matrix(results: Results) -> Iterator[str]:
    """The table as lines of HTML; nothing where no operation was to be executed."""
    found = ((entry, _applicable(entry.counts)) for entry in results.by_operation)
    asked = {(entry.operation, entry.type): counts for entry, counts in found if counts}
    if not asked:
        return
    operations = sorted({operation for operation, _ in asked})
    types = sorted({kind for _, kind in asked})
    yield f"<h2>Operations and types <small>{len(operations)} operations</small></h2>"
    yield "<p>Passed of the cases that execute a model; a case counts with each operation and type of its models. "
    yield "Cases that see something invalid refused are not counted here.</p>"
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


def _applicable(counts: Counts) -> Counts:
    return {name: count for name, count in counts.items() if name != Outcome.NOT_APPLICABLE.value}


def _cell(counts: Counts) -> str:
    if not counts:
        return "<td>"
    gravest = worst(*map(Outcome, counts)).value
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    passed = counts.get(Outcome.PASS.value, 0)
    return f'<td class="cell {gravest}" title="{told}">{passed}/{sum(counts.values())}'
