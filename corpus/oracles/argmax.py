"""ARGMAX: the index of the largest element along an axis; of equal ones the smallest index."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles._rows import indexes_of
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def argmax(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: tensor, axis (negative ones count from the end)."""
    return indexes_of(max, inputs)
