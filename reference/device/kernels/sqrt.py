"""SQRT."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def sqrt(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = square root of input; NaN for what is negative."""
    return (store(numpy.sqrt(real(required(inputs[0]))), outputs[0]),)
