"""LOGISTIC."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def logistic(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = 1 / (1 + exp(-input))."""
    return (store(1.0 / (1.0 + numpy.exp(-real(required(inputs[0])))), outputs[0]),)
