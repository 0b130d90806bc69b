"""Makes the models of a seed: the candidates that `choosing` took, with their expected values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.drawn.candidates import numbered, with_results
from npu_conformance.corpus.drawn.chosen import WRITER, numbers
from npu_conformance.corpus.strategies.calls import Unfit

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector
    from npu_conformance.specs.versions import Version


def models(operation: str, seed: int, version: Version) -> Iterator[Vector]:
    """See `drawn.models`."""
    forms = strategies.forms(version, operation)
    chosen = numbers(operation, version) if forms else ()
    for position, number in enumerate(chosen[seed] if chosen else ()):
        try:
            vector = with_results(numbered(forms, operation, number, version))
        except Unfit as error:
            told = f"candidate {number} of {operation} in {version} is unfit: {error}; run `{WRITER} {operation}`"
            raise LookupError(told) from error
        yield replace(vector, name=f"seed_{seed}_model_{position}")
