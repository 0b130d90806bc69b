"""DIV."""

import numpy

from npu_conformance.reference.device.activation import activate, activation_of
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def div(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = activation(input0 / input1), broadcast; TENSOR_INT32 rounds down, and gives 0 where it divides by 0."""
    left, right = real(required(inputs[0])), real(required(inputs[1]))
    quotient = left // right if left.dtype == numpy.int64 else left / right
    return (store(activate(quotient, activation_of(inputs[2])), outputs[0]),)
