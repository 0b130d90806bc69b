"""RSQRT: 1 / sqrt(x) of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Real, Result, each


def rsqrt(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _rsqrt)


def _rsqrt(x: Real) -> float:
    if x == 0:
        return math.inf
    return 1 / math.sqrt(x) if x > 0 else math.nan
