"""MEAN over axes: the exact mean, rounded once. (AOSP's CPU truncates quantised means: within one quantum.)"""

import math
from fractions import Fraction

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result


def mean(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, _mean)


def _mean(values: list[Real]) -> Real:
    if isinstance(values[0], Fraction):
        return sum((Fraction(value) for value in values), Fraction()) / len(values)
    return math.fsum(values) / len(values)
