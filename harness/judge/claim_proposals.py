"""Claims that a run would bear out: operations with types of which everything that was executed passes.

Where only models with sizes that are left open were refused, the claim is about those of known sizes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult, ModelUse, OperationUse
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.versions import Version


class Region(NamedTuple):
    """An operation, types that its tensors may have together, and whether only those of known sizes are meant."""

    operation: str
    types: frozenset[str]
    known_sizes: bool

    def has(self, use: OperationUse) -> bool:
        """True where a use of an operation lies in it."""
        is_meant = not self.known_sizes or use.elements is not None
        return self.operation == use.operation and frozenset(use.types) <= self.types and is_meant

    def contains(self, other: Region) -> bool:
        """True where the other is a part of it, and not the whole."""
        is_part = self.operation == other.operation and other.types <= self.types
        return is_part and self.known_sizes <= other.known_sizes and self != other


def proposed(verdicts: Sequence[CaseResult], version: Version) -> tuple[Claim, ...]:
    """The claims under which none of these verdicts would be another; one for each set of types.

    They are about the version that was tested, and those after it.
    """
    red = [result for result in verdicts if is_red(result.outcome)]
    right = {region for region in executed(verdicts) if not any(_is_about(result, region) for result in red)}
    found = _without_refused(right, verdicts)
    widest = {region for region in found if not any(other.contains(region) for other in found)}
    alike: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for region in sorted(widest, key=lambda one: (sorted(one.types), one.known_sizes, one.operation)):
        alike.setdefault((tuple(sorted(region.types)), region.known_sizes), []).append(region.operation)
    return tuple(
        Claim(operations=tuple(names), types=types, since=version, known_sizes=known)
        for (types, known), names in alike.items()
    )


def executed(verdicts: Iterable[CaseResult]) -> set[Region]:
    """The regions of which a model was executed, each for any sizes and for known ones.

    Nothing is claimed of operations without tensors.
    """
    passed = (result for result in verdicts if result.executed)
    found = {(name, frozenset(types)) for result in passed for name, types in result.executed.items() if types}
    return {Region(name, types, known) for name, types in found for known in (False, True)}


def spoken_against(operation: str, verdicts: Iterable[CaseResult]) -> str:
    """Why an operation that is executed is not claimed: how much of it is wrong, or else refused, and a case."""
    seen = list(verdicts)
    wrong = [result.case for result in seen if operation in _tested(result) and is_red(result.outcome)]
    if wrong:
        return f"{counted(len(wrong), 'case')} wrong, {wrong[0]} for one"
    refused = {result.case: found for result in seen if (found := [*_refusals_of(operation, result)])}
    if not refused:
        return "not known"
    types = {region.types for region in executed(seen) if region.operation == operation}
    case = min(refused, key=lambda name: min(_distance(refusal, types) for refusal in refused[name]))
    reason = min(refused[case], key=lambda refusal: (_distance(refusal, types), not refusal.reason)).reason
    return f"refused in {counted(len(refused), 'case')}, {case} for one{f' ({reason})' if reason else ''}"


def _tested(result: CaseResult) -> tuple[str, ...]:
    """The operations that a case is about. One that only brings the data, as in a variation, is not among them."""
    return (result.operation,) if result.operation else result.operations


class _Refusal(NamedTuple):
    """Why a model with an operation was refused, and the types that this had there; maybe empty."""

    reason: str
    types: frozenset[str]


def _refusals_of(operation: str, result: CaseResult) -> Iterator[_Refusal]:
    """The refusals of a case, or of its configurations."""
    for types in _types_in(operation, result.refused):
        yield _Refusal(result.message.partition("\n")[0], types)
    for part in result.configurations:
        for types in _types_in(operation, part.refused):
            yield _Refusal(f"#{part.name}: {part.message}".partition("\n")[0] if part.message else "", types)


def _types_in(operation: str, models: Iterable[ModelUse]) -> Iterator[frozenset[str]]:
    yield from (frozenset(use.types) for model in models for use in model if use.operation == operation)


def _distance(refusal: _Refusal, executed_types: Iterable[frozenset[str]]) -> int:
    """How far a refusal is from what was executed: it is the nearest one that costs the claim."""
    return min((len(refusal.types ^ types) for types in executed_types), default=0)


def text(claims: Iterable[Claim]) -> str:
    """The claims as JSON, one a line, without what has its default."""
    return "[" + ",\n ".join(json.dumps(_row(one)) for one in claims) + "]\n"


def _row(claim: Claim) -> dict[str, object]:
    row: dict[str, object] = {"operations": claim.operations, "types": claim.types, "since": claim.since.value}
    return row | ({"known_sizes": True} if claim.known_sizes else {})


def _is_about(result: CaseResult, region: Region) -> bool:
    return region.operation in _tested(result) and region.types <= set(result.types)


def _without_refused(regions: set[Region], verdicts: Iterable[CaseResult]) -> set[Region]:
    """Leave out what would make a refusal red, until no model that was refused lies in the regions."""
    left = set(regions)
    refusals = _refusals(verdicts)
    while broken := {one for model in refusals if _is_inside(model, left) for one in _refused(model)}:
        left = {region for region in left if not any(region.has(use) for use in broken)}
    return left


def _refusals(verdicts: Iterable[CaseResult]) -> set[ModelUse]:
    """What is refused, model by model."""
    models: set[ModelUse] = set()
    for result in verdicts:
        models.update(result.refused)
        for part in result.configurations:
            models.update(part.refused)
    return models


def _is_inside(model: ModelUse, regions: set[Region]) -> bool:
    return bool(model) and all(any(region.has(use) for region in regions) for use in model)


def _refused(model: ModelUse) -> list[OperationUse]:
    """The operations that a device said no to; all, where it said yes and did not execute them.

    Of these those alone whose sizes are open, where there are such: so much less is not claimed.
    """
    no = [use for use in model if not use.supported] or [*model]
    return [use for use in no if use.elements is None] or no
