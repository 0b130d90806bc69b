"""ARGMIN."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def argmin(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = index of the smallest element of input along axis, as stored; of equal ones the first."""
    indexes = required(inputs[0]).data.argmin(axis=integer(inputs[1]))
    return (indexes.reshape(outputs[0].dimensions).astype(numpy.int32),)
