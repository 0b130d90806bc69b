"""L2_NORMALIZATION."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required

_SHORTEST = 1e-6


def l2_normalization(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = x / max(sqrt(sum x^2), 1e-6) along axis, by default the last one: zeros where all are."""
    values = real(required(inputs[0]))
    axis = integer(inputs[1]) if len(inputs) > 1 else -1
    length = numpy.sqrt(numpy.square(values).sum(axis=axis, keepdims=True))
    return (store(values / numpy.maximum(length, _SHORTEST), outputs[0]),)
