"""RNN: one step of a cell; state and output are the same values."""

from npu_conformance.corpus.oracles._recurrent import Cell
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def rnn(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: input, weights, recurrent weights, bias, state, activation. Outputs: state, output."""
    source, weights, recurrent, bias, state, activation = map(present, inputs)
    cell = Cell([weights], recurrent, bias, int(activation.scalar))
    batches, size = source.dimensions
    raw: list[int | float] = []
    for batch in range(batches):
        row = [source.at(batch, position) for position in range(size)]
        raw += cell.step([row], [state.at(batch, unit) for unit in range(cell.units)])
    return [Result((batches, cell.units), raw) for _ in outputs]
