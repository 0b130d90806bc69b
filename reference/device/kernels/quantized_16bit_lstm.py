"""QUANTIZED_16BIT_LSTM."""

import numpy

from npu_conformance.reference.device.quantization import real, round_half_away, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, Tensor, required

_ONE = 4096.0
"""A gate of 1: gates are integers of 16 bits, four of which stand before the point."""


def quantized_16bit_lstm(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """cell = f * cell + i * g; output = o * tanh(cell), where i, f, o are sigmoids and g a tanh of the four gates.

    Each gate is [input, previous output] * [recurrent weights, input weights]^T + bias, rounded and saturated. The two
    orders are unlike each other, as in Android's CPU (QuantizedLSTM.cpp): where an input has k elements, they meet the
    first k columns of the joined weights, which are recurrent ones.
    """
    source, previous, cell = (real(required(inputs[index])) for index in (0, 14, 13))
    joined = numpy.concatenate([source, previous], axis=1)
    i, f, g, o = (_gate(joined @ _columns(inputs[5 + k], inputs[1 + k]).T, inputs[9 + k]) for k in range(4))
    state = store(_sigmoid(f) * cell + _sigmoid(i) * numpy.tanh(g), outputs[0])
    return state, store(_sigmoid(o) * numpy.tanh(state * outputs[0].scale), outputs[1])


def _columns(*weights: Tensor | None) -> Array:
    return numpy.concatenate([real(required(part)) for part in weights], axis=1)


def _gate(products: Array, bias: Tensor | None) -> Array:
    sums = products + required(bias).data * required(bias).scale
    return numpy.clip(round_half_away(sums * _ONE), -32768, 32767) / _ONE


def _sigmoid(values: Array) -> Array:
    result: Array = 1.0 / (1.0 + numpy.exp(-values))
    return result
