"""The cell that the three float LSTM operations run, on real values in float64: rows are the samples of a batch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from npu_conformance.reference.device.quantization import real
from npu_conformance.reference.device.recurrent import CELL_ACTIVATIONS, sigmoid
from npu_conformance.reference.device.tensors import Array, Inputs, integer, required

Reals = Array | None
"""Real values of an operand; None where it was omitted."""

_NO_VARIANCE = 1e-8
_INPUT, _FORGET, _CANDIDATE, _OUTPUT = range(4)
_RECURRENT, _BIASES, _PROJECTION, _PROJECTION_BIAS = 4, 11, 15, 16
_PEEPHOLES = {_INPUT: 8, _FORGET: 9, _OUTPUT: 10}


@dataclass(frozen=True)
class Places:
    """Where the operands of a cell begin: 17 weights, 4 norm weights, 4 auxiliary weights, activation and two clips."""

    weights: int
    norms: int
    parameters: int
    auxiliary: int | None = None


@dataclass(frozen=True)
class Gate:
    """Weights of one gate, [units, size] or [units]."""

    weights: Array
    recurrent: Array
    auxiliary: Reals
    peephole: Reals
    norm: Reals
    bias: Array

    def __call__(self, x: Array, auxiliary: Array, h: Array, c: Array) -> Array:
        """W x + R h [+ A aux] [+ P c], then [normalised over the units, times its weights] + bias."""
        sums = x @ self.weights.T + h @ self.recurrent.T
        if self.auxiliary is not None:
            sums += auxiliary @ self.auxiliary.T
        if self.peephole is not None:
            sums += c * self.peephole
        return (sums if self.norm is None else _normalized(sums) * self.norm) + self.bias


@dataclass(frozen=True)
class Cell:
    """Weights and parameters of a cell. input_gate: None where it is coupled to the forget gate (CIFG)."""

    input_gate: Gate | None
    forget_gate: Gate
    candidate: Gate
    output_gate: Gate
    projection: Reals
    projection_bias: Reals
    activation: Callable[[Array], Array]
    cell_clip: float
    projection_clip: float

    def step(self, x: Array, auxiliary: Array, h: Array, c: Array) -> tuple[Array, Array]:
        """The states after one step. The output gate looks at the new cell state."""
        forget = sigmoid(self.forget_gate(x, auxiliary, h, c))
        entering = 1.0 - forget if self.input_gate is None else sigmoid(self.input_gate(x, auxiliary, h, c))
        cell = _clipped(forget * c + entering * self.activation(self.candidate(x, auxiliary, h, c)), self.cell_clip)
        made = sigmoid(self.output_gate(x, auxiliary, h, cell)) * self.activation(cell)
        if self.projection is None:
            return made, cell
        bias = 0.0 if self.projection_bias is None else self.projection_bias
        return _clipped(made @ self.projection.T + bias, self.projection_clip), cell


def read_cell(inputs: Inputs, places: Places) -> Cell:
    """The cell of an operation."""
    first, parameters = places.weights, places.parameters
    return Cell(
        input_gate=None if inputs[first] is None else _gate(inputs, places, _INPUT),
        forget_gate=_gate(inputs, places, _FORGET),
        candidate=_gate(inputs, places, _CANDIDATE),
        output_gate=_gate(inputs, places, _OUTPUT),
        projection=_real(inputs, first + _PROJECTION),
        projection_bias=_real(inputs, first + _PROJECTION_BIAS),
        activation=CELL_ACTIVATIONS[integer(inputs[parameters])],
        cell_clip=float(required(inputs[parameters + 1]).data.item()),
        projection_clip=float(required(inputs[parameters + 2]).data.item()),
    )


def run(cell: Cell, steps: Array, auxiliary: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
    """The outputs [time, batch, output] of a sequence [time, batch, input], and both states after it."""
    outputs = []
    for time, x in enumerate(steps):
        h, c = cell.step(x, auxiliary[time], h, c)
        outputs.append(h)
    return numpy.stack(outputs), h, c


def _gate(inputs: Inputs, places: Places, gate: int) -> Gate:
    first = places.weights
    return Gate(
        weights=real(required(inputs[first + gate])),
        recurrent=real(required(inputs[first + _RECURRENT + gate])),
        auxiliary=None if places.auxiliary is None else _real(inputs, places.auxiliary + gate),
        peephole=_real(inputs, first + _PEEPHOLES[gate]) if gate in _PEEPHOLES else None,
        norm=_real(inputs, places.norms + gate),
        bias=real(required(inputs[first + _BIASES + gate])),
    )


def _real(inputs: Inputs, position: int) -> Reals:
    """The values of an optional operand, which may be left off the end too."""
    tensor = inputs[position] if position < len(inputs) else None
    return None if tensor is None else real(tensor)


def _clipped(values: Array, limit: float) -> Array:
    return numpy.clip(values, -limit, limit) if limit > 0 else values


def _normalized(values: Array) -> Array:
    centred = values - values.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return numpy.asarray(centred / numpy.sqrt(numpy.where(variance == 0, _NO_VARIANCE, variance)))
