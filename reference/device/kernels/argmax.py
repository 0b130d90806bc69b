"""ARGMAX."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def argmax(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = index of the largest element of input along axis, as stored; of equal ones the first."""
    indexes = required(inputs[0]).data.argmax(axis=integer(inputs[1]))
    return (indexes.reshape(outputs[0].dimensions).astype(numpy.int32),)
