"""From which version on an operation takes operands of given types, inputs and outputs together."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.operand_types import operand_type
from npu_conformance.specs.neuralnetworks.operation_tables import Signature
from npu_conformance.specs.neuralnetworks.registered_extensions import cached_while_registered
from npu_conformance.specs.versions import Version

Combination = tuple[tuple[str, str], ...]
"""Type variables of a signature, each with a type."""


@cached_while_registered()
def combination_since(operation: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Version | None:
    """The first version in which an operation takes operands of these types; None where none does."""
    return min((since for since, _ in _fits(operation, inputs, outputs)), default=None)


@cached_while_registered()
def combination_of(operation: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Combination:
    """The combination that operands of these types are; empty where they are none."""
    return min(_fits(operation, inputs, outputs), default=(None, ()))[1]


def _fits(operation: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Iterator[tuple[Version, Combination]]:
    for signature in catalogue.operation(operation).signatures:
        yield from _fits_signature(signature, inputs, outputs)


def _fits_signature(
    signature: Signature, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> Iterator[tuple[Version, Combination]]:
    given = catalogue.expand(signature.inputs, len(inputs))
    results = catalogue.expand(signature.outputs, len(outputs))
    if given is None or results is None or (signature.input_counts and len(inputs) not in signature.input_counts):
        return
    for since, combinations in signature.types.items():
        for combination in combinations:
            pairs = zip((*given, *results), (*inputs, *outputs), strict=True)
            if all(catalogue.matches(argument, combination, operand_type(kind)) for argument, kind in pairs):
                yield max(since, *map(catalogue.argument_since, given)), tuple(combination.items())
