"""FLOOR: the greatest integer that is not above each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, each


def floor(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _floor)


def _floor(x: Real) -> Real:
    """Infinities, NaN and zeros of either sign are no matter of rounding."""
    return math.floor(x) if x and math.isfinite(x) else x
