"""PAD."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def pad(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input with real zeros around it: the zero point where quantised."""
    tensor = required(inputs[0])
    return (numpy.pad(tensor.data, required(inputs[1]).data, constant_values=tensor.zero_point),)
