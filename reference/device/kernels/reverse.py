"""REVERSE."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required


def reverse(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[..., i, ...] = input[..., size - 1 - i, ...] along the one axis."""
    return (numpy.flip(required(inputs[0]).data, tuple(integers(inputs[1]))),)
