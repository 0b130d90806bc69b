"""Models of one operation with the sizes and parameters of hardware, several from each seed, spread pairwise.

    from npu_conformance.corpus import drawn

    for vector in drawn.models("CONV_2D", 0, Version.V1_3):
        ...

A driver chooses its kernels by guards: 3x3 filters with stride 2, channels that fill vectors, one permutation, equal
scales. What is wrong behind one of them is wrong there alone. The recipes are those of `corpus.strategies`, the
expected values the oracles'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from npu_conformance.corpus.random_graphs.official import WITHOUT_GRAPHS
from npu_conformance.specs.neuralnetworks.enums import OperationType

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector
    from npu_conformance.specs.versions import Version

SEEDS = 4
"""The official seeds are 0 to 3."""


def operations() -> tuple[str, ...]:
    """The operations that have models. Imports nothing that makes them."""
    return tuple(one.name for one in OperationType if one.name not in {*WITHOUT_GRAPHS, "OEM_OPERATION"})


def models(operation: str, seed: int, version: Version) -> Iterator[Vector]:
    """The models of a seed, each with one example and its expected values; none where a version lacks the operation.

    Raises ValueError for another seed than the official ones, and LookupError for a choice that is no longer fit.
    """
    if seed not in range(SEEDS):
        raise ValueError(f"drawn models: expected a seed from 0 to {SEEDS - 1}, found {seed}")
    # Listing cases has no need of what makes models.
    from npu_conformance.corpus.drawn import making

    yield from making.models(operation, seed, version)
