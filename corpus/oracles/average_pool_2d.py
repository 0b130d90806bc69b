"""AVERAGE_POOL_2D: the mean of the elements of each window that are not padding (hazard pool-divisor)."""

from fractions import Fraction

from npu_conformance.corpus.oracles._pools import pool
from npu_conformance.corpus.oracles._sums import activation_limits
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, activated, clamp, round_half_away


def average_pool_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """On stored integers, rounded half away from zero: input and output share scale and zero point."""
    output = outputs[0]

    def mean(window: list[int | float], activation: int) -> int | float:
        average = sum(map(Fraction, window)) / len(window)
        if output.is_quantized:
            return clamp(round_half_away(average), activation_limits(activation, output))
        return activated(average, activation, output)

    return pool(inputs, mean)
