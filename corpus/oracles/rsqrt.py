"""RSQRT: 1 / sqrt(x) of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, each


def rsqrt(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], _rsqrt)


def _rsqrt(x: Real) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return 1 / math.sqrt(x) if x > 0 else math.nan
