"""LOGICAL_AND."""

from npu_conformance.reference.device.comparison import is_true, truth
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs


def logical_and(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input0 and input1, broadcast; every byte but 0 is true."""
    return (truth(is_true(inputs[0]) & is_true(inputs[1])),)
