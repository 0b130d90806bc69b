"""BIDIRECTIONAL_SEQUENCE_LSTM: one cell over the sequence, another over the reversed sequence."""

from itertools import chain

from npu_conformance.corpus.oracles._lstm import Matrix, matrix, read_cell, read_parameters, run, sequence, swapped
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present, stored

_AUXILIARY, _FORGET_LINK = 39, 41


def bidirectional_sequence_lstm(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """An auxiliary input with weights goes into both cells; without weights it is what the backward cell reads."""
    parameters = read_parameters(inputs, 48)
    merge, time_major = (bool(present(operand).scalar) for operand in inputs[51:53])
    forward = read_cell(inputs, parameters, first=1, norms=53, auxiliary=40)
    backward = read_cell(inputs, parameters, first=18, norms=57, auxiliary=44)
    steps = sequence(inputs[0], time_major)
    extra = steps if inputs[_AUXILIARY] is None else sequence(inputs[_AUXILIARY], time_major)
    linked = inputs[_FORGET_LINK] is not None
    there, *states = run(forward, steps, extra, (matrix(inputs[35]), matrix(inputs[36])))
    read = steps if linked else extra
    back, *ends = run(backward, read[::-1], extra[::-1], (matrix(inputs[37]), matrix(inputs[38])))
    made = [there, back[::-1]]
    if merge:
        made = [[[f + b for f, b in zip(*pair, strict=True)] for pair in zip(*made, strict=True)]]
    results = [
        _whole(values if time_major else swapped(values), output) for values, output in zip(made, outputs, strict=False)
    ]
    for rows, output in zip((*states, *ends), outputs[len(made) :], strict=False):
        results.append(Result((len(rows), len(rows[0])), [stored(value, output) for value in chain(*rows)]))
    return results


def _whole(values: list[Matrix], output: OracleOperand) -> Result:
    shape = (len(values), len(values[0]), len(values[0][0]))
    return Result(shape, [stored(value, output) for value in chain(*chain(*values))])
