"""From numbers to truth values and back: what comparisons and logical operations share."""

import numpy

from npu_conformance.reference.device.quantization import real
from npu_conformance.reference.device.tensors import Array, Inputs, Tensor, required
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES


def operands(inputs: Inputs) -> tuple[Array, Array]:
    """The two operands of a comparison: real values in float32 where quantised, else the stored elements."""
    return _comparable(required(inputs[0])), _comparable(required(inputs[1]))


def is_true(tensor: Tensor | None) -> Array:
    """Which elements of a TENSOR_BOOL8 are true: all but 0."""
    elements: Array = required(tensor).data != 0
    return elements


def truth(values: Array) -> Array:
    """Truth values as elements of TENSOR_BOOL8: 0 and 1."""
    return values.astype(numpy.uint8)


def _comparable(tensor: Tensor) -> Array:
    if OPERAND_TYPES[tensor.operand_type].is_quantized:
        return real(tensor).astype(numpy.float32)
    return tensor.data
