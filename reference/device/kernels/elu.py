"""ELU."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def elu(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = max(0, input) + min(0, alpha * (e ^ input - 1))."""
    values, alpha = real(required(inputs[0])), float(required(inputs[1]).data.item())
    # Where alpha is 0, the second term of a large input is 0 * infinity: fmin takes the 0.
    return (store(numpy.maximum(values, 0.0) + numpy.fmin(alpha * numpy.expm1(values), 0.0), outputs[0]),)
