"""QUANTIZE."""

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def quantize(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = zero point + input / scale, rounded half away from zero and saturated."""
    return (store(real(required(inputs[0])), outputs[0]),)
