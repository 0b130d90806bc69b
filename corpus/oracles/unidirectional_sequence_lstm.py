"""UNIDIRECTIONAL_SEQUENCE_LSTM: a cell run over a sequence."""

from itertools import chain

from npu_conformance.corpus.oracles._lstm import matrix, read_cell, read_parameters, run, sequence, swapped
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored


def unidirectional_sequence_lstm(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: x, 17 weights, two states, activation, two clips, time_major, 4 norm weights. States: the last two."""
    cell = read_cell(inputs, read_parameters(inputs, 20), first=1, norms=24)
    time_major = bool(present(inputs[23]).scalar)
    steps = sequence(inputs[0], time_major)
    made, h, c = run(cell, steps, steps, (matrix(inputs[18]), matrix(inputs[19])))
    ordered = made if time_major else swapped(made)
    flat = [stored(value, outputs[0]) for value in chain(*chain(*ordered))]
    results = [Result((len(ordered), len(ordered[0]), len(h[0])), flat)]
    for rows, output in zip((h, c), outputs[1:], strict=False):
        results.append(Result((len(rows), len(rows[0])), [stored(value, output) for value in chain(*rows)]))
    return results
