"""GATHER."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def gather(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[..., i..., ...] = input[..., indices[i...], ...] along axis."""
    return (numpy.take(required(inputs[0]).data, required(inputs[2]).data, axis=integer(inputs[1])),)
