"""RANK."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def rank(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = number of dimensions of input, a scalar."""
    return (numpy.array(required(inputs[0]).data.ndim, numpy.int32),)
