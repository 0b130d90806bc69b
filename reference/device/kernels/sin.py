"""SIN."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def sin(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = sin input, in radians; NaN for an infinity."""
    return (store(numpy.sin(real(required(inputs[0]))), outputs[0]),)
