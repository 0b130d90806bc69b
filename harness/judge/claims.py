"""Claims: regions of operations, types and shapes that a vendor says it supports. Refusing inside one is a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Note
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.outcomes import Outcome, worst
from npu_conformance.specs.versions import Version

RANK, ELEMENTS = "rank", "elements"
"""The notes of a case that claims read: the rank of the first input, the elements of the largest operand."""


def covers(claim: Claim, result: CaseResult, version: Version) -> bool:
    """True where every operation and type of the case, its shape and the version lie in the claim's region."""
    return (
        version >= claim.since
        and bool(result.operations)
        and _within(result.operations, claim.operations)
        and _within(result.types, claim.types)
        and _rank_within(result.notes, claim)
        and _elements_within(result.notes, claim)
    )


def enforce(result: CaseResult, claims: Iterable[Claim], version: Version) -> CaseResult:
    """Return the result with not-supported turned into fail where a claim covers the case."""
    if not any(covers(claim, result, version) for claim in claims):
        return result
    configurations = tuple(_enforced(configuration) for configuration in result.configurations)
    own = Outcome.FAIL if result.own_outcome is Outcome.NOT_SUPPORTED else result.own_outcome
    if own is result.own_outcome and configurations == result.configurations:
        return result
    outcome = worst(own, *(configuration.outcome for configuration in configurations))
    message = result.message if own is result.own_outcome else _claimed(result.message)
    return replace(result, outcome=outcome, own_outcome=own, configurations=configurations, message=message)


def _enforced(configuration: ConfigurationResult) -> ConfigurationResult:
    if configuration.outcome is not Outcome.NOT_SUPPORTED:
        return configuration
    return replace(configuration, outcome=Outcome.FAIL, message=_claimed(configuration.message))


def _claimed(message: str) -> str:
    return f"claimed as supported, but refused: {message}"


def _within(used: tuple[str, ...], claimed: tuple[str, ...]) -> bool:
    return not claimed or set(used) <= set(claimed)


def _rank_within(notes: Mapping[str, Note], claim: Claim) -> bool:
    return not claim.ranks or notes.get(RANK) in claim.ranks


def _elements_within(notes: Mapping[str, Note], claim: Claim) -> bool:
    elements = notes.get(ELEMENTS)
    return claim.max_elements is None or (isinstance(elements, int) and elements <= claim.max_elements)
