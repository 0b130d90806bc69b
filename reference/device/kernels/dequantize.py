"""DEQUANTIZE."""

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def dequantize(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = scale * (input - zero point), with a scale for each channel where the input has them."""
    return (store(real(required(inputs[0])), outputs[0]),)
