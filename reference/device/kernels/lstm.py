"""LSTM."""

import numpy

from npu_conformance.reference.device.lstm import Places, read_cell
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required

_PLACES = Places(weights=1, norms=23, parameters=20)


def lstm(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output state, cell state = one step of the cell; output = output state. The scratch buffer is of no use here."""
    x, h, c = (real(required(inputs[position])) for position in (0, 18, 19))
    output, cell = read_cell(inputs, _PLACES).step(x, x, h, c)
    results = numpy.zeros(outputs[0].dimensions), output, cell, output
    return tuple(map(store, results, outputs))
