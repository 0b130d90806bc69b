"""MAX_POOL_2D: the largest element of each window."""

from functools import reduce

from npu_conformance.corpus.oracles._pools import pool
from npu_conformance.corpus.oracles._sums import activation_limits
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, activated, clamp, larger


def max_pool_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """On stored integers: input and output share scale and zero point."""
    output = outputs[0]

    def largest(window: list[int | float], activation: int) -> int | float:
        if output.is_quantized:
            return clamp(int(max(window)), activation_limits(activation, output))
        return activated(reduce(larger, window), activation, output)

    return pool(inputs, largest)
