"""HARD_SWISH."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def hard_swish(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input * min(6, max(0, input + 3)) / 6; its quantisation is its own."""
    values = real(required(inputs[0]))
    return (store(values * numpy.clip(values + 3.0, 0.0, 6.0) / 6.0, outputs[0]),)
