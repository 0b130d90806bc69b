"""Elements of operands: lists of plain numbers in documents, numpy arrays in Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.specs.documents.vectors import GeneratorDocument, Number
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array


MOST_GENERATED = 1 << 24
"""Elements of one generated array."""


class ValueRuleError(Exception):
    """Elements break a rule of the document; the message says which."""


def float32(value: float) -> float:
    """The float32 nearest to a decimal number, as a Python float. Scales are such values.

    Raises ValueRuleError where that is infinite.
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        raise ValueRuleError(f"{value} is too large for a float32") from None


def dtype_of(operand_type: AnyOperandType) -> numpy.dtype[numpy.generic]:
    """The numpy dtype of an element."""
    return numpy.dtype(OPERAND_TYPES[operand_type].dtype)


def to_array(values: Sequence[Number], operand_type: AnyOperandType, dimensions: tuple[int, ...]) -> Array:
    """A read-only array of the operand's dtype and shape; raises ValueRuleError where a number does not fit exactly."""
    dtype = dtype_of(operand_type)
    count = math.prod(dimensions)
    if len(values) != count:
        raise ValueRuleError(f"expected {count} elements for dimensions {list(dimensions)}, found {len(values)}")
    array = _floats(values, dtype) if dtype.kind == "f" else _integers(values, dtype)
    array = array.reshape(dimensions)
    array.flags.writeable = False
    return array


def _floats(values: Sequence[Number], dtype: numpy.dtype[numpy.generic]) -> Array:
    try:
        wide = numpy.array([float(value) for value in values], dtype=numpy.float64)
    except OverflowError:
        raise ValueRuleError(f"there is an integer that is too large for {dtype}") from None
    with numpy.errstate(over="ignore", under="ignore"):
        narrow = wide.astype(dtype)
    for given, kept in zip(wide, narrow, strict=True):
        if given != float(str(kept)) and not numpy.isnan(given):
            raise ValueRuleError(f"{given} is not a {dtype} in its shortest form; the nearest is {float(str(kept))}")
    return narrow


def _integers(values: Sequence[Number], dtype: numpy.dtype[numpy.generic]) -> Array:
    limits = numpy.iinfo(dtype.name)
    for value in values:
        if not isinstance(value, int):
            raise ValueRuleError(f"expected an integer, found {value}")
        if not limits.min <= value <= limits.max:
            raise ValueRuleError(f"{value} is outside {dtype}")
    return numpy.array(values, dtype=dtype)


def to_list(array: Array) -> list[Number]:
    """The flat list that a document holds: floats in the shortest form that gives the same value back."""
    flat = array.ravel()
    if array.dtype.kind != "f":
        return [int(value) for value in flat]
    return [_spelled(value) for value in flat]


def _spelled(value: numpy.floating) -> Number:
    if numpy.isfinite(value):
        return float(str(value))
    if numpy.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def generate(generator: GeneratorDocument, operand_type: AnyOperandType, dimensions: tuple[int, ...]) -> Array:
    """The array a generator stands for: the same on every machine, since numpy's PCG64 streams are stable.

    Raises ValueRuleError where a few bytes of a document ask for more memory than a test needs.
    """
    count = math.prod(dimensions)
    if count > MOST_GENERATED:
        raise ValueRuleError(f"expected at most {MOST_GENERATED} generated elements, found {count}")
    try:
        array = _generated(generator, dtype_of(operand_type), dimensions)
    except (ArithmeticError, ValueError) as error:
        raise ValueRuleError(f"such elements cannot be generated: {error}") from None
    array.flags.writeable = False
    return array


def _generated(generator: GeneratorDocument, dtype: numpy.dtype[numpy.generic], dimensions: tuple[int, ...]) -> Array:
    random = numpy.random.Generator(numpy.random.PCG64(generator.seed))
    if generator.kind == "uniform":
        return random.uniform(generator.low, generator.high, dimensions).astype(dtype)
    if generator.kind == "dyadic":
        low, high = round(generator.low / generator.step), round(generator.high / generator.step)
        return (random.integers(low, high, dimensions, endpoint=True) * generator.step).astype(dtype)
    low, high = int(generator.low), int(generator.high)
    return random.integers(low, high, dimensions, endpoint=True).astype(dtype)
