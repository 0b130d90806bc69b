"""PRELU."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def prelu(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input where it is not negative, else alpha * input, broadcast; quantisations may all differ."""
    values, alpha = real(required(inputs[0])), real(required(inputs[1]))
    return (store(numpy.where(values >= 0, values, alpha * values), outputs[0]),)
