"""SOFTMAX: exp(beta * (x - max)) / sum of the same along an axis, by default the last one."""

import math

from npu_conformance.corpus.oracles._rows import each_row
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, present


def softmax(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, beta, axis (since 1.2)."""
    source, beta = present(inputs[0]), float(present(inputs[1]).scalar)
    axis = int(present(inputs[2]).scalar) if len(inputs) > 2 else -1
    return each_row(source, axis, outputs[0], lambda row: _shares([float(value) for value in row], beta))


def _shares(row: list[float], beta: float) -> list[Real]:
    largest = max(row)
    powers = [math.exp(beta * (value - largest)) for value in row]
    total = math.fsum(powers)
    return [power / total for power in powers]
