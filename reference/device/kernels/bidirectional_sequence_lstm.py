"""BIDIRECTIONAL_SEQUENCE_LSTM."""

import numpy

from npu_conformance.reference.device.lstm import Places, read_cell, run
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, Tensor, integer, required

_FORWARD = Places(weights=1, norms=53, parameters=48, auxiliary=40)
_BACKWARD = Places(weights=18, norms=57, parameters=48, auxiliary=44)
_INPUT, _AUXILIARY, _LINK = 0, 39, 41


def bidirectional_sequence_lstm(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """One cell runs over the sequence, the other over the reversed one; both outputs are in forward order.

    With auxiliary weights both cells get the auxiliary input as well; without, the backward cell gets it alone.
    """
    merge, time_major = integer(inputs[51]), integer(inputs[52])
    x = _by_time(required(inputs[_INPUT]), time_major)
    auxiliary = x if inputs[_AUXILIARY] is None else _by_time(required(inputs[_AUXILIARY]), time_major)
    states = [real(required(inputs[position])) for position in (35, 36, 37, 38)]
    there, *ends = run(read_cell(inputs, _FORWARD), x, auxiliary, *states[:2])
    source = auxiliary if inputs[_LINK] is None else x
    back, *others = run(read_cell(inputs, _BACKWARD), source[::-1], auxiliary[::-1], *states[2:])
    sequences = [there, back[::-1]]
    if merge:
        sequences = [numpy.concatenate(sequences, axis=2)]
    if not time_major:
        sequences = [sequence.swapaxes(0, 1) for sequence in sequences]
    results = (*sequences, *ends, *others)
    return tuple(store(values, output) for values, output in zip(results, outputs, strict=False))


def _by_time(tensor: Tensor, time_major: int) -> Array:
    values = real(tensor)
    return values if time_major else values.swapaxes(0, 1)
