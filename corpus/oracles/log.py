"""LOG: natural logarithm of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Real, Result, each


def log(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _log)


def _log(x: Real) -> float:
    if x == 0:
        return -math.inf
    return math.log(x) if x > 0 else math.nan
