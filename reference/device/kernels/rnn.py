"""RNN."""

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.recurrent import drive, unroll
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def rnn(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """state = output = activation(input * weights^T + state * recurrent_weights^T + bias)."""
    source, weights, recurrent, bias, state, activation = inputs
    drives = drive(real(required(source))[None], weights, bias)
    (result,) = unroll(drives, recurrent, state, integer(activation))
    return tuple(store(result, output) for output in outputs)
