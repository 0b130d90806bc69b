"""RESHAPE."""

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def reshape(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the elements of input, row-major, in the shape that the shape rule read from input 1."""
    return (required(inputs[0]).data.reshape(outputs[0].dimensions),)
