"""EMBEDDING_LOOKUP: rows of a table, chosen by indices (hazard lookup-misses)."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import OracleOperand, Result, Shape, present


def embedding_lookup(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: indices, table."""
    lookups, values = map(present, inputs)

    def origin(index: Shape) -> Shape:
        return (lookups.integers[index[0]], *index[1:])

    return [moved(values, (len(lookups.integers), *values.dimensions[1:]), origin)]
