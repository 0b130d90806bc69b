"""REDUCE_ALL."""

import numpy

from npu_conformance.reference.device.reductions import reduced
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def reduce_all(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = logical and of input over the axes; any byte but 0 is true."""
    return (reduced(required(inputs[0]).data, inputs[1], outputs[0], numpy.all).astype(numpy.uint8),)
