"""BIDIRECTIONAL_SEQUENCE_RNN: a cell forward over time and one backward, whose output stands in forward order."""

from collections.abc import Sequence

from npu_conformance.corpus.oracles._recurrent import Cell, Row, reader, run
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present

_States = dict[tuple[int, int], Row]


def bidirectional_sequence_rnn(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: sequence; weights, recurrent weights, bias, state forward and backward; auxiliary sequence and weights.

    Then activation, time_major, merge_outputs. Without auxiliary weights the backward cell reads the auxiliary input
    instead (parallel linking), with them both cells read both (cross linking).
    """
    source, auxiliary = present(inputs[0]), inputs[9]
    activation, major, merge = (int(present(operand).scalar) for operand in inputs[12:])
    first, second, _ = source.dimensions
    times, batches = (first, second) if major else (second, first)
    results = []
    for direction, offset in enumerate((1, 5)):
        weights, recurrent, bias, state = map(present, inputs[offset : offset + 4])
        matrices, sources = [weights], [source]
        auxiliary_weights = inputs[10 + direction]
        if auxiliary is not None and auxiliary_weights is not None:
            matrices, sources = [weights, auxiliary_weights], [source, auxiliary]
        elif auxiliary is not None and direction == 1:
            sources = [auxiliary]
        order = range(times) if direction == 0 else range(times - 1, -1, -1)
        reads = [reader(operand, bool(major)) for operand in sources]
        results.append(run(Cell(matrices, recurrent, bias, activation), reads, state, order))
    layout = [(row, column) if major else (column, row) for row in range(first) for column in range(second)]
    sequences = [_sequence(results, layout)] if merge else [_sequence([states], layout) for states in results]
    shaped = [Result((first, second, len(raw) // (first * second)), raw) for raw in sequences]
    ends = [_at_time(states, end, batches) for states, end in zip(results, (times - 1, 0), strict=True)]
    return [*shaped, *ends][: len(outputs)]


def _sequence(results: Sequence[_States], layout: Sequence[tuple[int, int]]) -> list[float]:
    return [float(value) for place in layout for states in results for value in states[place]]


def _at_time(states: _States, time: int, batches: int) -> Result:
    raw = [float(value) for batch in range(batches) for value in states[time, batch]]
    return Result((batches, len(raw) // batches), raw)
