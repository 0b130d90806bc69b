"""LOCAL_RESPONSE_NORMALIZATION: x * (bias + alpha * S)^-beta, S the squares of x and its neighbours."""

import math

from npu_conformance.corpus.oracles._rows import each_row
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, present


def local_response_normalization(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, radius (how many neighbours count on each side), bias, alpha, beta, axis (since 1.2)."""
    source, *scalars = map(present, inputs)
    radius = int(scalars[0].scalar)
    bias, alpha, beta = (float(operand.scalar) for operand in scalars[1:4])
    axis = int(scalars[4].scalar) if len(scalars) > 4 else -1

    def normalized(row: list[Real]) -> list[Real]:
        values = [float(value) for value in row]
        result: list[Real] = []
        for place, value in enumerate(values):
            around = values[max(0, place - radius) : place + radius + 1]
            squares = math.fsum(neighbour * neighbour for neighbour in around)
            result.append(value * math.pow(bias + alpha * squares, -beta))
        return result

    return each_row(source, axis, outputs[0], normalized)
