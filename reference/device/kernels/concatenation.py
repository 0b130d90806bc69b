"""CONCATENATION."""

import numpy

from npu_conformance.reference.device.quantization import requantize
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def concatenation(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = all inputs but the last, joined along the axis that the last one names, in the output's quantisation."""
    *tensors, axis = inputs
    parts = [requantize(required(tensor), outputs[0]) for tensor in tensors]
    return (numpy.concatenate(parts, axis=integer(axis)),)
