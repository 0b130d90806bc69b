"""EXP: e^x of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, each


def exp(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _exp)


def _exp(x: Real) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
