"""PAD_V2."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def pad_v2(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input with pad_value around it; for a quantised input pad_value is the stored integer, its low byte."""
    tensor, value = required(inputs[0]), required(inputs[2])
    padding = value.data.astype(tensor.data.dtype)
    return (numpy.pad(tensor.data, required(inputs[1]).data, constant_values=padding),)
