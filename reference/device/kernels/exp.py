"""EXP."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def exp(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = e ^ input."""
    return (store(numpy.exp(real(required(inputs[0]))), outputs[0]),)
