"""EQUAL."""

from npu_conformance.reference.device.comparison import operands, truth
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs


def equal(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input0 == input1, broadcast, of real values in float32; TENSOR_BOOL8 by its bytes."""
    left, right = operands(inputs)
    return (truth(left == right),)
