"""NEG."""

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def neg(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = -input; the lowest TENSOR_INT32 wraps around to itself."""
    return (store(-real(required(inputs[0])), outputs[0]),)
