"""MEAN."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.reductions import reduced
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def mean(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = mean of input over the axes."""
    return (store(reduced(real(required(inputs[0])), inputs[1], outputs[0], numpy.mean), outputs[0]),)
