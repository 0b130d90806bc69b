"""RSQRT."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def rsqrt(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = 1 / sqrt(input); infinity for 0, NaN for what is negative, anything for either where quantised."""
    return (store(1.0 / numpy.sqrt(real(required(inputs[0]))), outputs[0]),)
