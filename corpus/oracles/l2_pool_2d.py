"""L2_POOL_2D: the root of the mean square of the elements of each window that are not padding."""

import math
from fractions import Fraction

from npu_conformance.corpus.oracles._pools import pool
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, activated


def l2_pool_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Padding counts neither in the sum nor in the divisor."""

    def root(window: list[int | float], activation: int) -> int | float:
        mean = sum(Fraction(element) ** 2 for element in window) / len(window)
        return activated(math.sqrt(mean), activation, outputs[0])

    return pool(inputs, root)
