"""MAXIMUM."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def maximum(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the larger of input0 and input1, broadcast; quantisations may all differ."""
    return (store(numpy.maximum(real(required(inputs[0])), real(required(inputs[1]))), outputs[0]),)
