"""Operand types of operations on boxes: data in one type, coordinates in eighths of a pixel, scalars in a third.

Generators give real numbers; for quantised types these are multiples of the scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators.base import Vectors, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32s, scalar, tensor
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.vectors.element_values import dtype_of
from npu_conformance.specs.neuralnetworks.enums import OperandType

KINDS = {
    "float32": OperandType.TENSOR_FLOAT32,
    "float16": OperandType.TENSOR_FLOAT16,
    "quant8": OperandType.TENSOR_QUANT8_ASYMM,
    "quant8_signed": OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
}
"""The type of scores, deltas and feature maps by how it is spelled in names of vectors."""

Numbers = Sequence[Any] | numpy.ndarray[Any, Any]


def values(
    kind: str,
    dimensions: Sequence[int],
    data: Numbers | None = None,
    *,
    scale: float = 0.0625,
    zero_point: int = 100,
    shape: Sequence[int] | None = None,
) -> OperandSpec:
    """Scores, deltas or a feature map. zero_point: of the unsigned type, the signed one's is smaller by 128."""
    if kind.startswith("float"):
        return tensor(KINDS[kind], dimensions, data, shape=shape)
    zero_point -= 128 if kind == "quant8_signed" else 0
    return _quantized(KINDS[kind], dimensions, data, scale, zero_point, shape)


def boxes(
    kind: str, dimensions: Sequence[int], data: Numbers | None = None, shape: Sequence[int] | None = None
) -> OperandSpec:
    """Coordinates: floats, or TENSOR_QUANT16_ASYMM beside quantised data."""
    if kind.startswith("float"):
        return tensor(KINDS[kind], dimensions, data, shape=shape)
    return _quantized(OperandType.TENSOR_QUANT16_ASYMM, dimensions, data, 0.125, 0, shape)


def number(kind: str, value: float) -> OperandSpec:
    """A scalar parameter: FLOAT16 beside float16 data, else FLOAT32."""
    return scalar(OperandType.FLOAT16 if kind == "float16" else OperandType.FLOAT32, value)


def indices(*batches: int, constant: bool = False) -> OperandSpec:
    """The batch of each box."""
    return int32s(*batches) if constant else tensor(OperandType.TENSOR_INT32, (len(batches),), batches)


def whole_numbers(dimensions: Sequence[int]) -> OperandSpec:
    """An output of classes, batches or counts."""
    return tensor(OperandType.TENSOR_INT32, dimensions)


def requantized(spec: OperandSpec, scale: float, zero_point: int) -> OperandSpec:
    """The operand with the same stored elements and another quantisation."""
    return replace(spec, operand=structs.replace(spec.operand, scale=scale, zero_point=zero_point))


def declared(vector: Vector) -> Vector:
    """The vector with its outputs declared as long as they are expected to be."""
    outputs = {
        name: structs.replace(vector.operands[name], dimensions=array.shape)
        for name, array in vector.examples[0].outputs.items()
    }
    return structs.replace(vector, operands={**vector.operands, **outputs})


def rejections(
    operation: str, sound: Mapping[str, tuple[Operands, Operands]], cases: Mapping[str, tuple[str, str, Operands]]
) -> Vectors:
    """Sound inputs and outputs, by kind, with some of them replaced so that one clause is broken.

    cases: by name the clause (`C1`, or in full), the kind, and the operands that take the place of sound ones.
    """
    for name, (clause, kind, changes) in cases.items():
        yield rejection(operation, name, clause, *sound[kind], "1.2", changes=changes)


def _quantized(
    operand_type: OperandType,
    dimensions: Sequence[int],
    data: Numbers | None,
    scale: float,
    zero_point: int,
    shape: Sequence[int] | None,
) -> OperandSpec:
    limits: Any = numpy.iinfo(dtype_of(operand_type))
    stored = None
    if data is not None:
        stored = numpy.clip(numpy.rint(numpy.asarray(data) / scale) + zero_point, limits.min, limits.max)
    return tensor(operand_type, dimensions, stored, scale=scale, zero_point=zero_point, shape=shape)
