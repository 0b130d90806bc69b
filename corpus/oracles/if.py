"""IF: one of two graphs, as the first element says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.oracles.base import Routine

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array


def if_(then: Routine, otherwise: Routine, values: Sequence[Array]) -> list[Array]:
    """values: the condition, then what the graph gets."""
    if bool(values[0][0]):
        return then(values[1:])
    return otherwise(values[1:])
