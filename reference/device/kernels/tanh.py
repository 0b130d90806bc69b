"""TANH."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def tanh(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = tanh(input)."""
    return (store(numpy.tanh(real(required(inputs[0]))), outputs[0]),)
