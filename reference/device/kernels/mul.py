"""MUL."""

from npu_conformance.reference.device.activation import activate, activation_of
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def mul(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = activation(input0 * input1), broadcast; TENSOR_INT32 wraps around."""
    left, right = real(required(inputs[0])), real(required(inputs[1]))
    return (store(activate(left * right, activation_of(inputs[2])), outputs[0]),)
