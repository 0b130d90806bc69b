"""Makes the models of a seed: the candidates that `choosing` took, with their expected values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.drawn.candidates import candidate_of, with_results
from npu_conformance.corpus.drawn.chosen import numbers
from npu_conformance.corpus.strategies.calls import Unfit

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector
    from npu_conformance.specs.versions import Version


def models(operation: str, seed: int, version: Version) -> Iterator[Vector]:
    """See `drawn.models`. A candidate that has become unfit is left out until the choice is made again."""
    forms = strategies.forms(version, operation)
    chosen = numbers(operation, version) if forms else ()
    for position, number in enumerate(chosen[seed] if chosen else ()):
        with contextlib.suppress(Unfit):
            vector = with_results(candidate_of(forms, f"{operation} {number}", version))
            yield replace(vector, name=f"seed_{seed}_model_{position}")
