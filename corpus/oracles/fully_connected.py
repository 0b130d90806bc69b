"""FULLY_CONNECTED: the input as rows of input_size elements, each multiplied with every row of the weights."""

from collections.abc import Sequence
from math import prod

from npu_conformance.corpus.oracles import _large_sums
from npu_conformance.corpus.oracles._sums import Exact, Finish, centred
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def fully_connected(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Weights [units, input_size], output [elements / input_size, units]."""
    source, weights, bias, activation = map(present, inputs)
    units, size = weights.dimensions
    batches = prod(source.dimensions) // size
    finish = Finish(source, weights, outputs[0], int(activation.scalar))
    if _large_sums.is_large(source, weights):
        totals = _large_sums.products(source, weights)
    else:
        totals = _totals(centred(source), centred(weights), batches, units)
    start = centred(bias)
    raw = [finish.store(start[unit] + totals[row][unit], unit) for row in range(batches) for unit in range(units)]
    return [Result((batches, units), raw)]


def _totals(values: Sequence[Exact], factors: Sequence[Exact], batches: int, units: int) -> list[list[Exact]]:
    size = len(factors) // units
    return [[_total(values, factors, row * size, unit * size, size) for unit in range(units)] for row in range(batches)]


def _total(values: Sequence[Exact], factors: Sequence[Exact], first: int, second: int, size: int) -> Exact:
    total: Exact = 0
    for index in range(size):
        total += values[first + index] * factors[second + index]
    return total
