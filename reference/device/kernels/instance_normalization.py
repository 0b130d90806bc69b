"""INSTANCE_NORMALIZATION."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def instance_normalization(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = gamma * (x - mean) / sqrt(variance + epsilon) + beta, over height and width of each channel."""
    values = real(required(inputs[0]))
    gamma, beta, epsilon = (float(required(scalar).data.item()) for scalar in inputs[1:4])
    image = (2, 3) if integer(inputs[4]) else (1, 2)
    centred = values - values.mean(axis=image, keepdims=True)
    deviation = numpy.sqrt(numpy.square(centred).mean(axis=image, keepdims=True) + epsilon)
    return (store(gamma * centred / deviation + beta, outputs[0]),)
