"""LOGISTIC: 1 / (1 + exp(-x)) of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, each


def logistic(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _logistic)


def _logistic(x: Real) -> float:
    """The exponent is never positive, so that nothing overflows."""
    power = math.exp(-abs(float(x)))
    return 1 / (1 + power) if x >= 0 else power / (1 + power)
