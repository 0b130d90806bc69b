"""LOG_SOFTMAX."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def log_softmax(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = (x - max) * beta - log(sum exp((x - max) * beta)) along axis."""
    values, beta, axis = real(required(inputs[0])), float(required(inputs[1]).data.item()), integer(inputs[2])
    shifted = (values - values.max(axis=axis, keepdims=True)) * beta
    return (store(shifted - numpy.log(numpy.exp(shifted).sum(axis=axis, keepdims=True)), outputs[0]),)
