"""MINIMUM."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def minimum(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the smaller of input0 and input1, broadcast; quantisations may all differ."""
    return (store(numpy.minimum(real(required(inputs[0])), real(required(inputs[1]))), outputs[0]),)
