"""SOFTMAX: exp(beta * (x - max)) / sum of the same along an axis, by default the last one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.specs.oracles.base import OracleOperand, Result, flatten, indexes, present, stored


def softmax(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: tensor, beta, axis (since 1.2)."""
    source, beta = present(inputs[0]), float(present(inputs[1]).scalar)
    axis = int(present(inputs[2]).scalar) if len(inputs) > 2 else -1
    shape = source.dimensions
    axis %= len(shape)
    values: list[int | float] = [0] * len(source.raw)
    for row in indexes((*shape[:axis], 1, *shape[axis + 1 :])):
        flats = [flatten((*row[:axis], i, *row[axis + 1 :]), shape) for i in range(shape[axis])]
        for flat, share in zip(flats, _shares([float(source.real(flat)) for flat in flats], beta), strict=True):
            values[flat] = stored(share, outputs[0])
    return [Result(shape, values)]


def _shares(row: list[float], beta: float) -> list[float]:
    largest = max(row)
    powers = [math.exp(beta * (value - largest)) for value in row]
    total = math.fsum(powers)
    return [power / total for power in powers]
