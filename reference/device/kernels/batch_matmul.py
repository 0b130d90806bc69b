"""BATCH_MATMUL."""

from npu_conformance.reference.device.quantization import centred, real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, Tensor, integer, required
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES


def batch_matmul(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[..., i, j] = sum over k of a[..., i, k] * b[..., k, j], either transposed; TENSOR_INT32 wraps around."""
    first, second = required(inputs[0]), required(inputs[1])
    left, right = _factors(first, integer(inputs[2])), _factors(second, integer(inputs[3]))
    sums = left @ right
    if OPERAND_TYPES[first.operand_type].is_quantized:
        sums = sums * (first.scale * second.scale)
    return (store(sums, outputs[0]),)


def _factors(tensor: Tensor, transposed: int) -> Array:
    """The matrices; quantised ones as q - zero point, whose sums of products are exact."""
    values = centred(tensor) if OPERAND_TYPES[tensor.operand_type].is_quantized else real(tensor)
    return values.swapaxes(-1, -2) if transposed else values
