"""LOG_SOFTMAX: (x - max) * beta - log(sum of exp((x - max) * beta)) along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles._rows import each_row
from npu_conformance.corpus.oracles.base import OracleOperand, Real, Result, present


def log_softmax(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: tensor, beta, axis (negative ones count from the end)."""
    source, beta, axis = map(present, inputs)
    factor = float(beta.scalar)

    def logarithms(row: list[Real]) -> list[Real]:
        largest = max(row)
        shifted = [float(value - largest) * factor for value in row]
        total = math.log(math.fsum(map(math.exp, shifted)))
        return [value - total for value in shifted]

    return each_row(source, int(axis.scalar), outputs[0], logarithms)
