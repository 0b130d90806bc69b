"""UNIDIRECTIONAL_SEQUENCE_LSTM."""

from npu_conformance.reference.device.lstm import Places, read_cell, run
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required

_PLACES = Places(weights=1, norms=24, parameters=20)


def unidirectional_sequence_lstm(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[t], states = a step of the cell for input[t] and the states before; then the last states."""
    x, h, c = (real(required(inputs[position])) for position in (0, 18, 19))
    time_major = integer(inputs[23])
    steps = x if time_major else x.swapaxes(0, 1)
    sequence, *states = run(read_cell(inputs, _PLACES), steps, steps, h, c)
    results = [sequence if time_major else sequence.swapaxes(0, 1), *states]
    return tuple(store(values, output) for values, output in zip(results, outputs, strict=False))
