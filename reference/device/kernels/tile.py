"""TILE."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required


def tile(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[i...] = input[i mod size...]: input multiples[k] times along axis k."""
    return (numpy.tile(required(inputs[0]).data, integers(inputs[1])),)
