"""TRANSPOSE."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required


def transpose(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input with axis i taken from axis perm[i]; an omitted perm reverses the axes."""
    order = None if inputs[1] is None else integers(inputs[1])
    return (numpy.transpose(required(inputs[0]).data, order),)
