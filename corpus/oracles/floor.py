"""FLOOR: the greatest integer that is not above each element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Real, Result, each


def floor(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _floor)


def _floor(x: Real) -> Real:
    """Infinities, NaN and zeros of either sign are no matter of rounding."""
    return math.floor(x) if x and math.isfinite(x) else x
