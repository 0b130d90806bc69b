"""EXAMPLE_CLAMP: min(max(x, low), high) of each element. NaN stays NaN."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each, present


def example_clamp(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: x, low, high."""
    low, high = present(inputs[1]).scalar, present(inputs[2]).scalar

    def clamped(value: float) -> float:
        return value if value != value else low if value < low else high if value > high else value

    return each(inputs[0], outputs[0], clamped)
