"""Claims that a run would bear out: operations with types of which everything that was executed passes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult, ModelUse
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.versions import Version

Region = tuple[str, frozenset[str]]
"""An operation, and types that its tensors may have together."""


def proposed(verdicts: Sequence[CaseResult], version: Version) -> tuple[Claim, ...]:
    """The claims under which none of these verdicts would be another; one for each set of types.

    They are about the version that was tested, and those after it.
    """
    red = [result for result in verdicts if is_red(result.outcome)]
    right = {region for region in executed(verdicts) if not any(_is_about(result, region) for result in red)}
    found = _without_refused(right, verdicts)
    widest = {(name, types) for name, types in found if not any(name == one and types < more for one, more in found)}
    by_types: dict[tuple[str, ...], list[str]] = {}
    for name, types in sorted(widest, key=lambda region: (sorted(region[1]), region[0])):
        by_types.setdefault(tuple(sorted(types)), []).append(name)
    return tuple(Claim(operations=tuple(names), types=types, since=version) for types, names in by_types.items())


def executed(verdicts: Iterable[CaseResult]) -> set[Region]:
    """The regions of which a model was executed; nothing is claimed of operations without tensors."""
    passed = (result for result in verdicts if result.executed)
    return {(name, frozenset(types)) for result in passed for name, types in result.executed.items() if types}


def spoken_against(operation: str, verdicts: Iterable[CaseResult]) -> str:
    """Why an operation that is executed is not claimed: how much of it is wrong, or else refused, and a case."""
    seen = list(verdicts)
    wrong = [result.case for result in seen if operation in result.operations and is_red(result.outcome)]
    if wrong:
        return f"{counted(len(wrong), 'case')} wrong, {wrong[0]} for one"
    refused = [result.case for result in seen if any(operation == use[0] for use in _uses(result))]
    return f"refused in {counted(len(refused), 'case')}, {refused[0]} for one" if refused else "not known"


def _uses(result: CaseResult) -> Iterator[Region]:
    """The operations of the models of a case that are refused."""
    return (use for model in _refusals([result]) for use, _ in model)


def text(claims: Iterable[Claim]) -> str:
    """The claims as JSON, one a line, without what has its default."""
    rows = ({"operations": one.operations, "types": one.types, "since": one.since.value} for one in claims)
    return "[" + ",\n ".join(map(json.dumps, rows)) + "]\n"


def _is_about(result: CaseResult, region: Region) -> bool:
    return region[0] in result.operations and region[1] <= set(result.types)


def _without_refused(regions: set[Region], verdicts: Iterable[CaseResult]) -> set[Region]:
    """Leave out what would make a refusal red, until no model that was refused lies in the regions."""
    left = set(regions)
    refusals = _refusals(verdicts)
    while broken := {one for model in refusals if _is_inside(model, left) for one in _refused(model)}:
        left = {region for region in left if not any(_has(region, use) for use in broken)}
    return left


def _refusals(verdicts: Iterable[CaseResult]) -> set[frozenset[tuple[Region, bool]]]:
    """What is refused, model by model: the region of each operation, and whether it is supported."""
    models: set[ModelUse] = set()
    for result in verdicts:
        models.update(result.refused)
        for part in result.configurations:
            models.update(part.refused)
    return {frozenset(((use.operation, frozenset(use.types)), use.supported) for use in model) for model in models}


def _is_inside(model: frozenset[tuple[Region, bool]], regions: set[Region]) -> bool:
    return bool(model) and all(any(_has(region, use) for region in regions) for use, _ in model)


def _refused(model: frozenset[tuple[Region, bool]]) -> list[Region]:
    """The operations that a device said no to; all, where it said yes and did not execute them."""
    return [use for use, supported in model if not supported] or [use for use, _ in model]


def _has(region: Region, use: Region) -> bool:
    return region[0] == use[0] and use[1] <= region[1]
