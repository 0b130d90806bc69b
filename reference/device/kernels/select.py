"""SELECT."""

import numpy

from npu_conformance.reference.device.quantization import requantize
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def select(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input_true where condition is true (any byte but 0), else input_false; each requantised."""
    condition, one, other = map(required, inputs)
    return (numpy.where(condition.data != 0, requantize(one, outputs[0]), requantize(other, outputs[0])),)
