"""The operands of a generator: model inputs and constants with their data, and outputs."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.vectors import ChannelQuant, VectorOperand, element_values
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType

Data = Sequence[Any] | Array | float | GeneratorDocument
"""Elements in row-major order (nested lists and arrays are flattened), one number for all, or a generator."""


@dataclass(frozen=True)
class OperandSpec:
    """An operand with its data: a model input, or with `constant` a constant, or with neither an output.

    left_out: a model input without data, which requests leave out.
    """

    operand: VectorOperand
    data: Array | GeneratorDocument | None = None
    constant: bool = False
    shape: tuple[int, ...] = ()
    left_out: bool = False


Operands = dict[str, OperandSpec]
"""Operands by name, in the order of the operation's signature."""


def tensor(
    operand_type: AnyOperandType,
    dimensions: Sequence[int],
    data: Data | None = None,
    *,
    scale: float = 0.0,
    zero_point: int = 0,
    channel_quant: tuple[Sequence[float], int] | None = None,
    constant: bool = False,
    shape: Sequence[int] | None = None,
) -> OperandSpec:
    """A tensor: with data a model input (or a constant), without data an output. channel_quant: scales, dimension.

    shape: that of the data, where the dimensions leave it open.
    """
    quant = None
    if channel_quant:
        quant = ChannelQuant(tuple(map(element_values.float32, channel_quant[0])), channel_quant[1])
    operand = VectorOperand(operand_type, tuple(dimensions), element_values.float32(scale), zero_point, quant)
    real = operand.dimensions if shape is None else tuple(shape)
    return OperandSpec(operand, _elements(data, operand, real), constant, real)


def constant(operand_type: AnyOperandType, dimensions: Sequence[int], data: Data, **quantization: Any) -> OperandSpec:
    """A constant tensor."""
    return tensor(operand_type, dimensions, data, constant=True, **quantization)


def int32s(*values: int) -> OperandSpec:
    """A constant TENSOR_INT32 of rank 1: axes, sizes, a shape."""
    return constant(OperandType.TENSOR_INT32, (len(values),), values)


def scalar(operand_type: AnyOperandType, value: float) -> OperandSpec:
    """A constant scalar."""
    return tensor(operand_type, (), [value], constant=True)


@functools.cache
def int32(value: int) -> OperandSpec:
    """A constant INT32."""
    return scalar(OperandType.INT32, value)


@functools.cache
def boolean(value: bool) -> OperandSpec:
    """A constant BOOL."""
    return scalar(OperandType.BOOL, int(value))


def reference(number: int) -> OperandSpec:
    """A reference to a graph of the vector, by its number."""
    return OperandSpec(VectorOperand(OperandType.SUBGRAPH, subgraph=number))


def omitted(operand_type: AnyOperandType, dimensions: Sequence[int] = (), **quantization: Any) -> OperandSpec:
    """An optional operand without value (NO_VALUE)."""
    spec = tensor(operand_type, dimensions, **quantization)
    return replace(spec, operand=structs.replace(spec.operand, omitted=True))


def left_out(operand_type: AnyOperandType, dimensions: Sequence[int] = (0,)) -> OperandSpec:
    """An optional operand that is an input of the model, and that requests leave out (hasNoValue)."""
    return replace(omitted(operand_type, dimensions), left_out=True)


def materialised(spec: OperandSpec) -> Array:
    """The elements of a model input or constant; raises ValueError for an operand without any."""
    if isinstance(spec.data, GeneratorDocument):
        return element_values.generate(spec.data, spec.operand.type, spec.shape)
    if spec.data is None:
        raise ValueError("a constant needs data")
    return spec.data


def _elements(data: Data | None, operand: VectorOperand, shape: tuple[int, ...]) -> Array | GeneratorDocument | None:
    if data is None or isinstance(data, GeneratorDocument):
        return data
    dtype, given = element_values.dtype_of(operand.type), numpy.asarray(data)
    if dtype.kind == "f":
        with numpy.errstate(over="ignore", under="ignore"):
            array = given.astype(dtype)
    else:
        array = given.astype(dtype)
        if not (given == array).all():
            raise ValueError(f"{data} does not fit into {dtype}")
    return numpy.full(shape, array) if array.ndim == 0 else array.reshape(shape)
