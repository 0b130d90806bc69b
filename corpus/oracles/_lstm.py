"""One step of an LSTM cell, by plain loops over float64: what the three float operations have in common.

Formulas (W input weights, R recurrent weights, P peephole weights, h and c the states before the step):
gate = W x + R h [+ A aux] [+ P c], then [normalised over the units, times its weights] + bias;
forget = sigmoid, input = sigmoid (or 1 - forget without an input gate), candidate = activation;
c' = clip(forget * c + input * candidate); output = sigmoid, whose peephole looks at c';
m = output * activation(c'); h' = m, or clip(projection m + its bias).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, larger, present, smaller

Row = list[float]
Matrix = list[Row]

ACTIVATIONS: dict[int, Callable[[float], float]] = {
    0: lambda value: value,
    1: lambda value: larger(0.0, value),
    3: lambda value: smaller(larger(0.0, value), 6.0),
    4: math.tanh,
    6: lambda value: sigmoid(value),
}
"""By the codes of recurrent operations, which are not those of fused activations.

Hazard: recurrent-activation-codes.
"""

_INPUT, _FORGET, _CANDIDATE, _OUTPUT = range(4)
_PEEPHOLES = {_INPUT: 8, _FORGET: 9, _OUTPUT: 10}
_RECURRENT, _BIASES, _PROJECTION = 4, 11, 15


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    return 0.5 + 0.5 * math.tanh(value / 2)


@dataclass
class Gate:
    """What one gate adds up. Everything that was omitted is None."""

    weights: Matrix
    recurrent: Matrix
    auxiliary: Matrix | None
    peephole: Row | None
    norm: Row | None
    bias: Row

    def values(self, x: Row, auxiliary: Row, h: Row, c: Row) -> Row:
        """The value of each unit before its activation function."""
        sums = [_dot(row, x) + _dot(again, h) for row, again in zip(self.weights, self.recurrent, strict=True)]
        if self.auxiliary is not None:
            sums = [value + _dot(row, auxiliary) for value, row in zip(sums, self.auxiliary, strict=True)]
        if self.peephole is not None:
            sums = [value + weight * old for value, weight, old in zip(sums, self.peephole, c, strict=True)]
        if self.norm is not None:
            sums = [value * weight for value, weight in zip(_normalised(sums), self.norm, strict=True)]
        return [value + bias for value, bias in zip(sums, self.bias, strict=True)]


@dataclass
class Parameters:
    """Activation code and the two clips, of which 0 means none."""

    activation: int
    cell_clip: float
    projection_clip: float


@dataclass
class Cell:
    """The weights of one cell; gates in the order input, forget, candidate, output, the first None with CIFG."""

    gates: list[Gate | None]
    projection: Matrix | None
    projection_bias: Row | None
    parameters: Parameters

    def step(self, x: Row, auxiliary: Row, h: Row, c: Row) -> tuple[Row, Row]:
        """The states after one step of one sample."""
        activation = ACTIVATIONS[self.parameters.activation]
        forget = [sigmoid(value) for value in self._gate(_FORGET, x, auxiliary, h, c)]
        entering = [1.0 - value for value in forget]
        if self.gates[_INPUT] is not None:
            entering = [sigmoid(value) for value in self._gate(_INPUT, x, auxiliary, h, c)]
        candidates = [activation(value) for value in self._gate(_CANDIDATE, x, auxiliary, h, c)]
        cell = []
        for unit, old in enumerate(c):
            new = forget[unit] * old + entering[unit] * candidates[unit]
            cell.append(_clipped(new, self.parameters.cell_clip))
        opened = self._gate(_OUTPUT, x, auxiliary, h, cell)
        made = [sigmoid(value) * activation(new) for value, new in zip(opened, cell, strict=True)]
        return self._projected(made), cell

    def _gate(self, number: int, x: Row, auxiliary: Row, h: Row, c: Row) -> Row:
        gate = self.gates[number]
        if gate is None:
            raise ValueError(f"gate {number} has no weights")
        return gate.values(x, auxiliary, h, c)

    def _projected(self, made: Row) -> Row:
        if self.projection is None:
            return made
        biases = self.projection_bias or [0.0] * len(self.projection)
        sums = [_dot(row, made) + bias for row, bias in zip(self.projection, biases, strict=True)]
        return [_clipped(value, self.parameters.projection_clip) for value in sums]


def read_parameters(inputs: Inputs, first: int) -> Parameters:
    """Activation, cell clip and projection clip, which follow each other."""
    code, cell, projection = (present(operand).scalar for operand in inputs[first : first + 3])
    return Parameters(int(code), float(cell), float(projection))


def read_cell(inputs: Inputs, parameters: Parameters, *, first: int, norms: int, auxiliary: int | None = None) -> Cell:
    """The cell whose 17 weights begin at `first`, 4 norm weights at `norms` and 4 auxiliary ones at `auxiliary`."""
    own = inputs[first : first + 17]
    normalising = [*inputs[norms : norms + 4], None, None, None, None][:4]
    extra = inputs[auxiliary : auxiliary + 4] if auxiliary is not None else [None] * 4
    gates = [_gate(own, number, normalising[number], extra[number]) for number in range(4)]
    return Cell(gates, _matrix(own[_PROJECTION]), _row(own[_PROJECTION + 1]), parameters)


def _gate(own: Inputs, number: int, norm: OracleOperand | None, extra: OracleOperand | None) -> Gate | None:
    weights, recurrent = _matrix(own[number]), _matrix(own[_RECURRENT + number])
    if weights is None or recurrent is None:
        return None
    peephole = _row(own[_PEEPHOLES[number]]) if number in _PEEPHOLES else None
    bias = _row(own[_BIASES + number]) or []
    return Gate(weights, recurrent, _matrix(extra), peephole, _row(norm), bias)


def run(
    cell: Cell, steps: Sequence[Matrix], auxiliary: Sequence[Matrix], states: tuple[Matrix, Matrix]
) -> tuple[list[Matrix], Matrix, Matrix]:
    """The output at each step and both states at the end; steps and outputs are [time][batch][element]."""
    h, c = states
    outputs = []
    for inputs, extra in zip(steps, auxiliary, strict=True):
        pairs = [cell.step(x, a, old_h, old_c) for x, a, old_h, old_c in zip(inputs, extra, h, c, strict=True)]
        h, c = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        outputs.append(h)
    return outputs, h, c


def matrix(operand: OracleOperand | None) -> Matrix:
    """The rows of an operand of rank 2 that must be there."""
    return _matrix(present(operand)) or []


def sequence(operand: OracleOperand | None, time_major: bool) -> list[Matrix]:
    """An operand of rank 3 as [time][batch][element]."""
    source = present(operand)
    outer, inner, size = source.dimensions
    rows = [[float(source.at(i, j, k)) for k in range(size)] for i in range(outer) for j in range(inner)]
    if time_major:
        return [rows[time * inner : (time + 1) * inner] for time in range(outer)]
    return [[rows[batch * inner + time] for batch in range(outer)] for time in range(inner)]


def swapped(outputs: Sequence[Matrix]) -> list[Matrix]:
    """[time][batch] as [batch][time], and the other way round."""
    return [list(rows) for rows in zip(*outputs, strict=True)]


def _matrix(operand: OracleOperand | None) -> Matrix | None:
    if operand is None:
        return None
    rows, columns = operand.dimensions
    return [[float(operand.at(row, column)) for column in range(columns)] for row in range(rows)]


def _row(operand: OracleOperand | None) -> Row | None:
    return None if operand is None else [float(value) for value in operand.raw]


def _dot(first: Row, second: Row) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def _clipped(value: float, limit: float) -> float:
    return min(max(value, -limit), limit) if limit > 0 else value


def _normalised(values: Row) -> Row:
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return [(value - mean) / math.sqrt(variance or 1e-8) for value in values]
