"""The cell of the RNN family: activation(sum of products of each input with its weights + state + bias)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, Outputs, Real, rounded_float

Row = Sequence[Real]
Read = Callable[[int, int], Row]
"""The elements that one input has for a time step and a batch."""


@dataclass
class Cell:
    """weights: one matrix [units, size] for each input; recurrent: [units, units]. activation: a code of cells."""

    weights: Outputs
    recurrent: OracleOperand
    bias: OracleOperand
    activation: int

    @property
    def units(self) -> int:
        """Number of units."""
        return self.bias.dimensions[0]

    def step(self, rows: Sequence[Row], state: Row) -> list[float]:
        """The state after one step of one batch, rounded once to the operands' type."""
        return [self._unit(unit, rows, state) for unit in range(self.units)]

    def _unit(self, unit: int, rows: Sequence[Row], state: Row) -> float:
        total = Fraction(self.bias.at(unit)) + _product(self.recurrent, unit, state)
        for matrix, row in zip(self.weights, rows, strict=True):
            total += _product(matrix, unit, row)
        return rounded_float(activated(total, self.activation), self.bias.type)


def _product(matrix: OracleOperand, unit: int, row: Row) -> Fraction:
    total = Fraction(0)
    for position, element in enumerate(row):
        total += Fraction(matrix.at(unit, position)) * Fraction(element)
    return total


def activated(value: Real, code: int) -> Real:
    """0 is the value itself, 1 RELU, 3 RELU6, 4 TANH, 6 SIGMOID (hazard recurrent-activation-codes)."""
    if code == 1:
        return max(value, 0)
    if code == 3:
        return min(max(value, 0), 6)
    if code == 4:
        return math.tanh(value)
    if code == 6:
        power = math.exp(-abs(float(value)))
        return 1 / (1 + power) if value >= 0 else power / (1 + power)
    return value


def reader(source: OracleOperand, time_major: bool) -> Read:
    """How to read a sequence [batch, time, size], or [time, batch, size] where time comes first."""
    size = source.dimensions[2]

    def read(time: int, batch: int) -> Row:
        first, second = (time, batch) if time_major else (batch, time)
        return [source.at(first, second, position) for position in range(size)]

    return read


def run(cell: Cell, reads: Sequence[Read], start: OracleOperand, times: Sequence[int]) -> dict[tuple[int, int], Row]:
    """The states after each step, by time and batch; the times are gone through in their order."""
    states: dict[tuple[int, int], Row] = {}
    for batch in range(start.dimensions[0]):
        state: Row = [start.at(batch, unit) for unit in range(cell.units)]
        for time in times:
            state = cell.step([read(time, batch) for read in reads], state)
            states[time, batch] = state
    return states
