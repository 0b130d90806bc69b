"""HARD_SWISH: x * min(6, max(0, x + 3)) / 6 of each element; the output has quantisation parameters of its own."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each


def hard_swish(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], lambda x: x * min(6, max(0, x + 3)) / 6)
