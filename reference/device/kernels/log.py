"""LOG."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def log(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = ln input; -infinity for 0, NaN for what is negative."""
    return (store(numpy.log(real(required(inputs[0]))), outputs[0]),)
