"""LOGICAL_NOT."""

from npu_conformance.reference.device.comparison import is_true, truth
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs


def logical_not(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = not input; every byte but 0 is true."""
    return (truth(~is_true(inputs[0])),)
