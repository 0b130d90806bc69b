"""SQUEEZE."""

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def squeeze(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the elements of input without the squeezed axes of size 1, all of them where input 1 is omitted."""
    return (required(inputs[0]).data.reshape(outputs[0].dimensions),)
