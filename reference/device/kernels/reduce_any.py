"""REDUCE_ANY."""

import numpy

from npu_conformance.reference.device.reductions import reduced
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def reduce_any(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = logical or of input over the axes; any byte but 0 is true."""
    return (reduced(required(inputs[0]).data, inputs[1], outputs[0], numpy.any).astype(numpy.uint8),)
