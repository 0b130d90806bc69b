"""DEQUANTIZE: scale * (q - zero point), rounded once to the output type; per channel where the input is."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each


def dequantize(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one quantised tensor."""
    return each(inputs[0], outputs[0], lambda x: x)
