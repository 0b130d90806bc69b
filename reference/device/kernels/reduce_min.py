"""REDUCE_MIN."""

import numpy

from npu_conformance.reference.device.reductions import reduced
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def reduce_min(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = smallest element of input over the axes, as stored: both have one quantisation."""
    return (reduced(required(inputs[0]).data, inputs[1], outputs[0], numpy.min),)
