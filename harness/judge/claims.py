"""Claims: regions of operations, types and shapes that a vendor says it supports. Refusing inside one is a failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, ModelUse, OperationUse
from npu_conformance.specs.manifest import Claim, Manifest
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.outcomes import Outcome, of_case
from npu_conformance.specs.suggestions import did_you_mean
from npu_conformance.specs.versions import Version

_CLAIMED = ("NNHAL-CLAIM-001",)


def covers(claim: Claim, use: OperationUse, version: Version) -> bool:
    """True where the operation, all types of its tensors, their sizes and the version lie in the claim's region.

    Claims without operations are about all that the catalogue has.
    """
    return (
        version >= claim.since
        and use.operation in (claim.operations or catalogue.names())
        and (not claim.types or set(use.types) <= set(claim.types))
        and (not claim.ranks or use.rank in claim.ranks)
        and (not claim.known_sizes or use.elements is not None)
        and (claim.max_elements is None or (use.elements is not None and use.elements <= claim.max_elements))
    )


def is_claimed(model: ModelUse, claims: Sequence[Claim], version: Version) -> bool:
    """True where each operation of the model lies in one of the claims."""
    return bool(model) and all(any(covers(claim, use, version) for claim in claims) for use in model)


def enforce(result: CaseResult, claims: Sequence[Claim], version: Version) -> CaseResult:
    """Return the result with not-supported turned into fail where a model that was refused is claimed."""

    def breaks_claim(outcome: Outcome, refused: Iterable[ModelUse]) -> bool:
        return outcome is Outcome.NOT_SUPPORTED and any(is_claimed(model, claims, version) for model in refused)

    broken = [breaks_claim(part.outcome, part.refused) for part in result.configurations]
    own_broken = breaks_claim(result.own_outcome, result.refused)
    if not own_broken and not any(broken):
        return result
    own = Outcome.FAIL if own_broken else result.own_outcome
    parts = tuple(
        _refused(part) if is_broken else part for part, is_broken in zip(result.configurations, broken, strict=True)
    )
    return replace(
        result,
        outcome=of_case(own, [part.outcome for part in parts]),
        own_outcome=own,
        configurations=parts,
        message=_claimed(result.message) if own_broken else result.message,
        broken=_CLAIMED if own_broken else result.broken,
    )


def check_names(manifest: Manifest) -> None:
    """Raise DocumentError where a claim names an operation, or a type of tensors, that does not exist."""
    tensors = tuple(info.type.name for info in OPERAND_TYPES.values() if info.is_tensor)
    for number, claim in enumerate(manifest.claims):
        path = f"$.claims[{number}]"
        _check_names(manifest.name, f"{path}.operations", claim.operations, catalogue.names(), "operation")
        _check_names(manifest.name, f"{path}.types", claim.types, tensors, "type of tensors")


def _check_names(owner: str, path: str, names: Sequence[str], known: Sequence[str], what: str) -> None:
    for index, name in enumerate(names):
        if name not in known:
            hint = did_you_mean(name.upper(), known) or "; what an extension has is known with --catalogue"
            raise DocumentError(f"manifest of {owner}", f"{path}[{index}]", f"there is no {what} {name!r}{hint}")


def _refused(configuration: ConfigurationResult) -> ConfigurationResult:
    return replace(configuration, outcome=Outcome.FAIL, message=_claimed(configuration.message), broken=_CLAIMED)


def _claimed(message: str) -> str:
    return f"claimed as supported, but refused: {message}"
