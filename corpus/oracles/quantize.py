"""QUANTIZE: zero point + round(x / scale), halves away from zero, saturated; infinities saturate too."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each


def quantize(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one float tensor. The output's scale and zero point are the target."""
    return each(inputs[0], outputs[0], lambda x: x)
