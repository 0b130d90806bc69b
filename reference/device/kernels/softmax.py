"""SOFTMAX."""

import math

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def softmax(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = exp(beta * (x - max)) / sum exp(beta * (x - max)) along axis, by default the last one."""
    values, beta = real(required(inputs[0])), float(required(inputs[1]).data.item())
    axis = integer(inputs[2]) if len(inputs) > 2 else -1
    largest = values.max(axis=axis, keepdims=True, initial=-math.inf)
    exponentials = numpy.exp(beta * (values - largest))
    return (store(exponentials / exponentials.sum(axis=axis, keepdims=True), outputs[0]),)
