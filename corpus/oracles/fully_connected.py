"""FULLY_CONNECTED: the input as rows of input_size elements, each multiplied with every row of the weights."""

from collections.abc import Callable
from math import prod

from npu_conformance.corpus.oracles import _large_sums
from npu_conformance.corpus.oracles._sums import Exact, Finish, centred
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present


def fully_connected(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Weights [units, input_size], output [elements / input_size, units]."""
    source, weights, bias, activation = map(present, inputs)
    units, size = weights.dimensions
    batches = prod(source.dimensions) // size
    finish = Finish(source, weights, outputs[0], int(activation.scalar))
    products_of = _large_sums.products if _large_sums.is_large(source, weights) else _products
    products, start = products_of(source, weights), centred(bias)
    raw = [finish.store([start[unit], *products(row, unit)], unit) for row in range(batches) for unit in range(units)]
    return [Result((batches, units), raw)]


def _products(source: OracleOperand, weights: OracleOperand) -> Callable[[int, int], list[Exact]]:
    values, factors, size = centred(source), centred(weights), weights.dimensions[1]

    def products(row: int, unit: int) -> list[Exact]:
        return [values[row * size + index] * factors[unit * size + index] for index in range(size)]

    return products
