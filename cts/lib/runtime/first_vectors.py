"""The stored vectors that stand for an operation: the first with each combination of types, of which cases do more."""

from __future__ import annotations

import functools

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader


def is_first(vector: Vector | VectorHeader, case_id: str) -> bool:
    """True for a stored vector that is the first of its operation with its types."""
    return case_id.startswith("cts.generated.") and vector.name in first_names(vector.operation)


@functools.cache
def first_names(operation: str) -> tuple[str, ...]:
    """The first vector of the operation with each combination of types."""
    if operation not in vectors.operations():
        return ()
    positive = [header for header in vectors.headers(operation) if header.rejected is None]
    return tuple({header.types: header.name for header in reversed(positive)}.values())
