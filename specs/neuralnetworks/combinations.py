"""From which version on an operation takes operands of given types, inputs and outputs together."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version


@functools.cache
def combination_since(operation: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Version | None:
    """The first version in which an operation takes operands of these types; None where none does."""
    found = [
        since for signature in catalogue.operation(operation).signatures for since in _fits(signature, inputs, outputs)
    ]
    return min(found, default=None)


def _fits(signature: catalogue.Signature, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Iterator[Version]:
    given = catalogue.expand(signature.inputs, len(inputs))
    results = catalogue.expand(signature.outputs, len(outputs))
    if given is None or results is None or (signature.input_counts and len(inputs) not in signature.input_counts):
        return
    for since, combinations in signature.types.items():
        for combination in combinations:
            pairs = zip((*given, *results), (*inputs, *outputs), strict=True)
            if all(catalogue.matches(argument, combination, OperandType[kind]) for argument, kind in pairs):
                yield max(since, *map(catalogue.argument_since, given))
