"""EXP: e^x of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Real, Result, each


def exp(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _exp)


def _exp(x: Real) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
