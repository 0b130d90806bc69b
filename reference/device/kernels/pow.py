"""POW."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def pow(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = base ^ exponent, broadcast."""
    return (store(numpy.power(real(required(inputs[0])), real(required(inputs[1]))), outputs[0]),)
