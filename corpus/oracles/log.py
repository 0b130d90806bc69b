"""LOG: natural logarithm of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, each


def log(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _log)


def _log(x: Real) -> float:
    if x == 0:
        return -math.inf
    return math.log(x) if x > 0 else math.nan
