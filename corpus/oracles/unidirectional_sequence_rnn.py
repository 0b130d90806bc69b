"""UNIDIRECTIONAL_SEQUENCE_RNN: a cell over time; the output keeps the layout of the input."""

from npu_conformance.corpus.oracles._recurrent import Cell, reader, run
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def unidirectional_sequence_rnn(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: sequence, weights, recurrent weights, bias, state, activation, time_major. Outputs: sequence, state."""
    source, weights, recurrent, bias, state, activation, major = map(present, inputs)
    time_major = bool(major.scalar)
    first, second, _ = source.dimensions
    times, batches = (first, second) if time_major else (second, first)
    cell = Cell([weights], recurrent, bias, int(activation.scalar))
    states = run(cell, [reader(source, time_major)], state, range(times))
    raw: list[int | float] = []
    for row in range(first):
        for column in range(second):
            raw += map(float, states[(row, column) if time_major else (column, row)])
    last = [float(value) for batch in range(batches) for value in states[times - 1, batch]]
    return [Result((first, second, cell.units), raw), Result((batches, cell.units), last)][: len(outputs)]
