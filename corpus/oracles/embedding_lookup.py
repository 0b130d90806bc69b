"""EMBEDDING_LOOKUP: rows of a table, chosen by indices (hazard lookup-misses)."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def embedding_lookup(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: indices, table."""
    lookups, values = map(present, inputs)

    def origin(index: Shape) -> Shape:
        return (lookups.integers[index[0]], *index[1:])

    return [moved(values, (len(lookups.integers), *values.dimensions[1:]), origin)]
