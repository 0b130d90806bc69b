"""WHILE: the body again and again; what it does not give anew stays as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.oracles.base import Routine

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_ROUNDS = 10_000
"""More than any stored loop needs: an endless one has no expected value."""


def while_(condition: Routine, body: Routine, values: Sequence[Array]) -> list[Array]:
    """values: those that the body gives anew, then those that stay the same. Raises ValueError for an endless loop."""
    for _ in range(_ROUNDS):
        (goes_on,) = condition(values)
        if not bool(goes_on[0]):
            return list(values)
        changed = body(values)
        values = [*changed, *values[len(changed) :]]
    raise ValueError(f"the loop goes on after {_ROUNDS} rounds")
