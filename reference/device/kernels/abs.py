"""ABS."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def abs(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = |input|; the lowest TENSOR_INT32 wraps around to itself."""
    return (store(numpy.abs(real(required(inputs[0]))), outputs[0]),)
