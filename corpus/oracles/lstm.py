"""LSTM: one step of a cell for each sample of the batch."""

from itertools import chain

from npu_conformance.corpus.oracles._lstm import matrix, read_cell, read_parameters, run
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, stored


def lstm(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: x, 17 weights, two states, activation, two clips, up to 4 norm weights. Scratch comes out as zeros."""
    cell = read_cell(inputs, read_parameters(inputs, 20), first=1, norms=23)
    x = matrix(inputs[0])
    _, h, c = run(cell, [x], [x], (matrix(inputs[18]), matrix(inputs[19])))
    scratch = (3 if cell.gates[0] is None else 4) * len(c[0])
    made = [[[0.0] * scratch] * len(x), h, c, h]
    return [
        Result((len(rows), len(rows[0])), [stored(value, output) for value in chain(*rows)])
        for rows, output in zip(made, outputs, strict=True)
    ]
