"""Expected values of somebody's own vectors that the oracles do not find: no driver can be blamed by them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from npu_conformance.corpus import witnesses

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Example, Vector

NAME = "the oracle"
"""Not `oracle`, whose values stored vectors have to the last bit: others' may be off by the public tolerance."""
_MOST_OPERATIONS, _MOST_ELEMENTS = 8, 1 << 16
"""The plain loops of the oracles take their time, and in a longer chain rounding adds up beyond one tolerance."""


def by_the_oracles(vector: Vector) -> Iterator[str]:
    """A line for each output whose expected values the oracles contradict; none where that takes long or is not sure.

    A step of a quantised value between two operations may be many in the result.
    """
    if vector.kind != "general" or not _is_small(vector) or not _is_sure(vector):
        return
    for one in witnesses.testify(vector, NAME, oracle).disagreements:
        yield f"output {one.output!r}: {one.problem}: the vector is wrong, not the driver"


def _is_small(vector: Vector) -> bool:
    operands = [operand for graph in vector.graphs for operand in graph.operands.values()]
    return max((math.prod(operand.dimensions) for operand in operands), default=0) <= _MOST_ELEMENTS


def _is_sure(vector: Vector) -> bool:
    operations = [operation for graph in vector.graphs for operation in graph.operations]
    kinds = {operand.type.name for graph in vector.graphs for operand in graph.operands.values()}
    is_quantised = any("QUANT" in kind for kind in kinds)
    return len(operations) <= (1 if is_quantised else _MOST_OPERATIONS)


def oracle(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """The oracles as a witness of vectors that may be invalid, which they then say nothing of."""
    try:
        return witnesses.oracle(vector, example)
    except Exception:  # they expect a valid model: what another one makes them raise is no word on its values
        return None
