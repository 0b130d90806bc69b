"""FILL."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def fill(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = value everywhere, in the shape that the shape rule read from dims."""
    return (numpy.full(outputs[0].dimensions, required(inputs[1]).data),)
