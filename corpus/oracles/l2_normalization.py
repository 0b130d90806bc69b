"""L2_NORMALIZATION: x / sqrt(sum of x^2) along an axis, by default the last one; zeros stay zeros (since 1.3)."""

import math

from npu_conformance.corpus.oracles._rows import each_row
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, present


def l2_normalization(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, axis (since 1.2)."""
    axis = int(present(inputs[1]).scalar) if len(inputs) > 1 else -1
    return each_row(present(inputs[0]), axis, outputs[0], _normalized)


def _normalized(row: list[Real]) -> list[Real]:
    length = math.sqrt(math.fsum(float(value * value) for value in row))
    return [float(value) / length if length else 0.0 for value in row]
