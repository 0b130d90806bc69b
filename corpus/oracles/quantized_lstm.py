"""QUANTIZED_LSTM: one step of a cell on integers, with exact fractions between the roundings.

Pre-activations, cell state and gates are int16: pre-activations in units of 2^-12 after layer normalisation, gates in
units of 2^-15, the cell state in units of its scale. The biases of gates count only with layer normalisation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from npu_conformance.corpus.oracles._lstm import sigmoid
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, clamp, present, round_half_away

Integers = list[int]
_INT8, _INT16 = (-128, 127), (-(2**15), 2**15 - 1)
_INPUT, _FORGET, _CANDIDATE, _OUTPUT = range(4)
_PEEPHOLES = {_INPUT: 9, _FORGET: 10, _OUTPUT: 11}
_STATE, _CELL = 18, 19


def quantized_lstm(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Both outputs are the same; the cell state keeps its scale."""
    cell = present(inputs[_CELL])
    shift = round(math.log2(cell.scale))
    step = _Step(inputs, shift)
    hidden, cells = [], []
    for batch in range(cell.dimensions[0]):
        h, c = step.run(batch)
        hidden += h
        cells += c
    batches, units = cell.dimensions
    shape = (batches, len(hidden) // batches)
    return [Result(shape, hidden), Result((batches, units), cells), Result(shape, hidden)]


@dataclass
class _Step:
    inputs: Inputs
    shift: int

    def run(self, batch: int) -> tuple[Integers, Integers]:
        """Output and cell state of one sample."""
        old = _line(present(self.inputs[_CELL]), batch)
        forget = self._opened(_FORGET, batch, old)
        entering = [2**15 - 1 - value for value in forget]
        if self.inputs[1] is not None:
            entering = self._opened(_INPUT, batch, old)
        candidates = [_q15(math.tanh, value, -12) for value in self._gate(_CANDIDATE, batch, old)]
        cell = []
        for unit, before in enumerate(old):
            kept = round_half_away(Fraction(forget[unit] * before, 2**15))
            added = round_half_away(Fraction(entering[unit] * candidates[unit]) / 2 ** (30 + self.shift))
            cell.append(self._clipped(clamp(kept + added, _INT16)))
        opened = self._opened(_OUTPUT, batch, cell)
        made = [self._hidden(o * _q15(math.tanh, c, self.shift)) for o, c in zip(opened, cell, strict=True)]
        return self._projected(made), cell

    def _opened(self, gate: int, batch: int, cell: Integers) -> Integers:
        return [_q15(sigmoid, value, -12) for value in self._gate(gate, batch, cell)]

    def _gate(self, gate: int, batch: int, cell: Integers) -> Integers:
        unit_scale = Fraction(self._real(26 + gate))
        sums = self._products(0, 1 + gate, batch, unit_scale)
        again = self._products(_STATE, 5 + gate, batch, unit_scale)
        sums = [clamp(first + second, _INT16) for first, second in zip(sums, again, strict=True)]
        peephole = self.inputs[_PEEPHOLES[gate]] if gate in _PEEPHOLES else None
        if peephole is not None:
            factor = Fraction(peephole.scale) * Fraction(2) ** self.shift / unit_scale
            looks = [round_half_away(int(w) * c * factor) for w, c in zip(peephole.raw, cell, strict=True)]
            sums = [clamp(value + look, _INT16) for value, look in zip(sums, looks, strict=True)]
        norm = self.inputs[20 + gate]
        return sums if norm is None else _normalised(sums, norm, present(self.inputs[12 + gate]))

    def _products(self, source: int, weights: int, batch: int, unit_scale: Fraction) -> Integers:
        data, factors = present(self.inputs[source]), present(self.inputs[weights])
        scale = Fraction(data.scale) * Fraction(factors.scale) / unit_scale
        values = [value - data.zero_point for value in _line(data, batch)]
        rows = (_line(factors, row) for row in range(factors.dimensions[0]))
        sums = (sum(a * b for a, b in zip(row, values, strict=True)) for row in rows)
        return [clamp(round_half_away(total * scale), _INT16) for total in sums]

    def _clipped(self, value: int) -> int:
        limit = int(self._real(24) / present(self.inputs[_CELL]).scale)
        return clamp(value, (-limit, limit)) if limit > 0 else value

    def _hidden(self, product: int) -> int:
        scaled = round_half_away(Fraction(product, 2**30) / Fraction(self._real(31)))
        return clamp(scaled - int(self._real(30)), _INT8)

    def _projected(self, made: Integers) -> Integers:
        weights, bias, state = self.inputs[16], self.inputs[17], present(self.inputs[_STATE])
        if weights is None:
            return made
        scale = Fraction(weights.scale) * Fraction(self._real(31)) / Fraction(state.scale)
        results = []
        limit = int(self._real(25) / weights.scale)
        for row in range(weights.dimensions[0]):
            total = 0 if bias is None else int(bias.raw[row])
            total += sum(w * (h + int(self._real(30))) for w, h in zip(_line(weights, row), made, strict=True))
            value = clamp(round_half_away(total * scale) + state.zero_point, _INT8)
            results.append(clamp(value, (-limit, limit)) if limit > 0 else value)
        return results

    def _real(self, position: int) -> float:
        return float(present(self.inputs[position]).scalar)


def _line(operand: OracleOperand, row: int) -> Integers:
    size = operand.dimensions[1]
    return [int(element) for element in operand.raw[row * size : (row + 1) * size]]


def _q15(function: Callable[[float], float], value: int, exponent: int) -> int:
    return clamp(round_half_away(function(value * 2.0**exponent) * 2**15), _INT16)


def _normalised(values: Integers, norm: OracleOperand, bias: OracleOperand) -> Integers:
    """1024 units of the normalised value; the bias comes after the weight, in units of its scale / 1024."""
    count = len(values)
    mean = math.trunc(Fraction(sum(values) * 1024, count))
    squares = sum(value * value for value in values) * (2**20 // count) - mean * mean
    variance = max(1, math.trunc(Fraction(squares, 2**20)))
    results = []
    for value, weight, added in zip(values, norm.integers, bias.integers, strict=True):
        scaled = round_half_away((1024 * value - mean) / math.sqrt(variance))
        units = round_half_away(Fraction(scaled * weight + added, 1024))
        results.append(clamp(round_half_away(units * Fraction(norm.scale) * 2**12), _INT16))
    return results
