"""QUANTIZED_16BIT_LSTM: exact sums to gates of 16 bits (3 integer bits), then the cell's formula in float64.

A gate is one fully connected layer over two joined vectors. NNAPI's text does not say in which order they are joined;
Android's CPU does (nn/common/operations/QuantizedLSTM.cpp): activations as [input, previous output] (in
quantizedLstmStep), but columns of the weights as [recurrent, input] (in concatenateWeights). So the input does not meet
the input weights alone: it meets the first columns of what is joined. AOSP's expected values say the same
(V1_2/quantized_lstm.mod.py).

Fixed-point arithmetic on the same gates differs from it by at most one unit of the last place of a result.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import (
    Inputs,
    OracleOperand,
    Outputs,
    Result,
    clamp,
    present,
    quantized,
    round_half_away,
)

_INT16 = (-(2**15), 2**15 - 1)
_GATE_SCALE = 4096


def quantized_16bit_lstm(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: input; input weights, recurrent weights, biases of gates i f c o; cell state; output. Outputs: both."""
    source, *rest = map(present, inputs)
    weights, recurrent, biases, (cell, previous) = rest[:4], rest[4:8], rest[8:12], rest[12:]
    cells: list[int | float] = []
    answers: list[int | float] = []
    for batch in range(source.dimensions[0]):
        activations = [*_row(source, batch), *_row(previous, batch)]
        for unit in range(biases[0].dimensions[0]):
            gates = []
            for one, other, bias in zip(weights, recurrent, biases, strict=True):
                columns = [*_row(other, unit), *_row(one, unit)]
                gates.append(_gate(Fraction(bias.at(unit)) * Fraction(bias.scale) + _product(activations, columns)))
            new = quantized(
                _logistic(gates[0]) * math.tanh(gates[2]) + _logistic(gates[1]) * cell.at(batch, unit), outputs[0]
            )
            cells.append(new)
            answers.append(quantized(_logistic(gates[3]) * math.tanh(new * outputs[0].scale), outputs[1]))
    return [Result(cell.dimensions, cells), Result(cell.dimensions, answers)]


def _row(matrix: OracleOperand, number: int) -> list[Fraction]:
    return [Fraction(matrix.at(number, position)) for position in range(matrix.dimensions[1])]


def _product(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((left * right for left, right in zip(one, other, strict=True)), Fraction(0))


def _gate(total: Fraction) -> float:
    return clamp(round_half_away(total * _GATE_SCALE), _INT16) / _GATE_SCALE


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
