"""FLOOR."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def floor(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the greatest integer not above input; infinities, NaN and -0 stay."""
    return (store(numpy.floor(real(required(inputs[0]))), outputs[0]),)
