"""UNIDIRECTIONAL_SEQUENCE_RNN."""

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.recurrent import drive, time_first, unroll
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def unidirectional_sequence_rnn(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[t] = state[t] = activation(input[t] * weights^T + state[t-1] * recurrent_weights^T + bias)."""
    source, weights, recurrent, bias, state, activation, time_major = inputs
    major = bool(integer(time_major))
    drives = drive(time_first(real(required(source)), major), weights, bias)
    states = unroll(drives, recurrent, state, integer(activation))
    results = time_first(states, major), states[-1]
    return tuple(store(result, output) for result, output in zip(results, outputs, strict=False))
