"""SPLIT."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def split(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output k = the k-th of num_splits equal slices of input along axis."""
    return tuple(numpy.split(required(inputs[0]).data, integer(inputs[2]), axis=integer(inputs[1])))
