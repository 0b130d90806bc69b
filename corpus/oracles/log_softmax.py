"""LOG_SOFTMAX: (x - max) * beta - log(sum of exp((x - max) * beta)) along an axis."""

import math

from npu_conformance.corpus.oracles._rows import each_row
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, present


def log_softmax(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, beta, axis (negative ones count from the end)."""
    source, beta, axis = map(present, inputs)
    factor = float(beta.scalar)

    def logarithms(row: list[Real]) -> list[Real]:
        largest = max(row)
        shifted = [float(value - largest) * factor for value in row]
        total = math.log(math.fsum(map(math.exp, shifted)))
        return [value - total for value in shifted]

    return each_row(source, int(axis.scalar), outputs[0], logarithms)
