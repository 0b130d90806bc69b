"""PACK."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def pack(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[..., k, ...] = the k-th of the inputs after the first, which names the new axis."""
    axis, *tensors = inputs
    return (numpy.stack([required(tensor).data for tensor in tensors], integer(axis)),)
