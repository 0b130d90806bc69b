"""The bias that NNAPI's convolutions and FULLY_CONNECTED always have."""

from __future__ import annotations

import numpy as np

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.importers.tflite.tensors import narrowed
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

_TOLERANCE = 0.02
"""How far LiteRT lets the scale of a bias lie from that of the products, in scales of the output."""


def bias(step: Step, position: int, source: int, weights: int, channel_axis: int) -> str:
    """The bias with the scale that NNAPI asks for; zeros where the operator has none."""
    operand = _operand(step, source, weights, channel_axis)
    if not step.has(position):
        return step.filled(operand, 0)
    if not OPERAND_TYPES[step.operand(source).type].is_quantized:
        return step.name(position)
    tensor = step.tensor(position)
    _check_scale(step, position, operand.scale)
    tensor, value = narrowed(tensor, step.constant(position))
    if value.size != operand.dimensions[0] or tensor.type != "INT32":
        raise Unsupported(f"its bias, {tensor}, is not one INT32 for each of {operand.dimensions[0]} channels")
    return step.translation.builder.constant(operand, np.ascontiguousarray(value.reshape(operand.dimensions), np.int32))


def _operand(step: Step, source: int, weights: int, channel_axis: int) -> VectorOperand:
    image, filters = step.operand(source), step.operand(weights)
    if channel_axis >= len(filters.dimensions):
        raise Unsupported(f"its filter has the shape {list(filters.dimensions)}")
    size = (filters.dimensions[channel_axis],)
    if not OPERAND_TYPES[image.type].is_quantized:
        return VectorOperand(image.type, size)
    product = 0.0 if filters.channel_quant else float(np.float32(image.scale) * np.float32(filters.scale))
    return VectorOperand(OperandType.TENSOR_INT32, size, product)


def _check_scale(step: Step, position: int, product: float) -> None:
    """Refuse what LiteRT refuses; what is nearer is rounding of the converter's."""
    scales = step.tensor(position).scales
    if product and len(scales) == 1 and abs(scales[0] - product) > _TOLERANCE * step.result().scale:
        raise Unsupported(f"its bias has the scale {scales[0]:g}, its products have {product:g}")
