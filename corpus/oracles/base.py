"""What every oracle is built from: operands with exact real values, and rounding to what is stored.

An oracle is a plain function of operands; it says what the contract's formula gives, by loops, fractions and float64.
Floats: Python floats hold float16 and float32 exactly, and a sum, product, quotient or root of two of them rounded to
float64 and then once more to the type is the correctly rounded result. Quantised values are exact fractions.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy

from npu_conformance.corpus.vector_types import ChannelQuant
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

Real = int | float | Fraction
Number = TypeVar("Number", float, Real)
Shape = tuple[int, ...]


@dataclass(eq=False)
class OracleOperand:
    """An operand of an oracle. array holds the stored elements (None for an output), dimensions their shape.

    For an output the dimensions are the declared ones, of which some may be 0 (unknown). extension: the parameters of
    an operand of an extension's type, as its driver gets them.
    """

    type: AnyOperandType
    dimensions: Shape = ()
    scale: float = 0.0
    zero_point: int = 0
    channel_quant: ChannelQuant | None = None
    array: Array | None = None
    extension: bytes = b""

    @functools.cached_property
    def raw(self) -> list[int | float]:
        """The stored elements, flat, in row-major order."""
        if self.array is None:
            raise ValueError("an output operand has no elements")
        elements: list[int | float] = self.array.ravel().tolist()
        return elements

    @property
    def is_quantized(self) -> bool:
        """True where elements stand for (element - zero point) * scale."""
        return OPERAND_TYPES[self.type].is_quantized

    @functools.cached_property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest integer that the type stores."""
        info = numpy.iinfo(OPERAND_TYPES[self.type].dtype)
        return int(info.min), int(info.max)

    @functools.cached_property
    def scale_ratio(self) -> tuple[int, int]:
        """The exact scale of all elements: numerator and denominator."""
        return self.scale.as_integer_ratio()

    @functools.cached_property
    def reals(self) -> Sequence[Real]:
        """The exact values of all elements, flat: fractions where they are quantised, else the stored numbers."""
        if not self.is_quantized:
            return self.raw
        if self.channel_quant is not None:
            return [self._fraction(element, self._channel_scale(flat)) for flat, element in enumerate(self.raw)]
        # The same numbers are met many times.
        values = {element: self._fraction(element, self.scale_ratio) for element in set(self.raw)}
        return [values[element] for element in self.raw]

    def raw_at(self, index: Sequence[int]) -> int | float:
        """The stored element at a position."""
        if self.array is None:
            raise ValueError("an output operand has no elements")
        element: int | float = self.array.item(*index)
        return element

    def at(self, *index: int) -> Real:
        """The exact value of the element at a position."""
        return self.reals[flatten(index, self.dimensions)] if self.is_quantized else self.raw_at(index)

    def _fraction(self, element: int | float, scale: tuple[int, int]) -> Fraction:
        numerator, denominator = scale
        return Fraction((int(element) - self.zero_point) * numerator, denominator)

    def _channel_scale(self, flat_index: int) -> tuple[int, int]:
        assert self.channel_quant is not None
        channel = unflatten(flat_index, self.dimensions)[self.channel_quant.channel_dim]
        return self.channel_quant.scales[channel].as_integer_ratio()

    def store(self, value: Real) -> int | float:
        """What is stored of this operand for a real value; see `stored`."""
        return quantized(value, self) if self.is_quantized else self._unquantized(value)

    @functools.cached_property
    def _unquantized(self) -> Callable[[Real], int | float]:
        info = OPERAND_TYPES[self.type]
        return functools.partial(_rounded, _FLOATS[info.size]) if info.dtype.startswith("float") else int

    @functools.cached_property
    def activation_ranges(self) -> dict[int, tuple[int | float, int | float]]:
        """The smallest and the largest stored number that each fused activation leaves: limits, rounded as values."""
        return {code: (self.store(low), self.store(high)) for code, (low, high) in _ACTIVATION_LIMITS.items()}

    @property
    def scalar(self) -> int | float:
        """The stored value of a scalar, or of a tensor with one element."""
        return self.raw[0]

    @property
    def integers(self) -> list[int]:
        """The stored elements as integers: axes, sizes, paddings."""
        return [int(element) for element in self.raw]


class Result(msgspec.Struct):
    """One output: its shape and the stored elements, flat, after rounding."""

    dimensions: Shape
    raw: Sequence[int | float] | Array


Inputs = Sequence[OracleOperand | None]
"""The inputs of an operation in their order: None where an optional one is omitted."""

Outputs = Sequence[OracleOperand]
"""What is declared of the outputs of an operation."""

Oracle = Callable[[Inputs, Outputs], list[Result]]

Routine = Callable[[Sequence["Array"]], list["Array"]]
"""A graph that IF or WHILE refers to: values of its inputs to values of its outputs."""

ControlFlow = Callable[[Routine, Routine, Sequence["Array"]], list["Array"]]
"""The oracle of IF or WHILE, with its two graphs and the values of its other inputs."""


def count(dimensions: Shape) -> int:
    """Number of elements."""
    return math.prod(dimensions)


def indexes(dimensions: Shape) -> Iterator[Shape]:
    """All positions of a shape in row-major order; one empty position for a scalar."""
    return itertools.product(*map(range, dimensions))


def flatten(index: Sequence[int], dimensions: Shape) -> int:
    """The flat, row-major index of a position."""
    flat = 0
    for position, size in zip(index, dimensions, strict=True):
        flat = flat * size + position
    return flat


def unflatten(flat_index: int, dimensions: Shape) -> Shape:
    """The position of a flat, row-major index."""
    index = []
    for size in reversed(dimensions):
        index.append(flat_index % size)
        flat_index //= size
    return tuple(reversed(index))


def broadcast_shape(first: Shape, second: Shape) -> Shape:
    """The shape of an elementwise operation: aligned right, where a size of 1 gives way to the other's."""
    rank = max(len(first), len(second))
    first = (1,) * (rank - len(first)) + first
    second = (1,) * (rank - len(second)) + second
    return tuple(b if a == 1 else a for a, b in zip(first, second, strict=True))


def broadcast(operand: OracleOperand, shape: Shape) -> Sequence[Real]:
    """The exact values that broadcasting puts at all positions of the output, in row-major order."""
    reals = operand.reals
    if operand.dimensions == shape:
        return reals
    own = numpy.arange(count(operand.dimensions)).reshape(operand.dimensions)
    return [reals[flat_index] for flat_index in numpy.broadcast_to(own, shape).ravel().tolist()]


def round_half_away(value: Real) -> int:
    """The nearest integer; halves go away from zero."""
    return nearest(*value.as_integer_ratio())


def nearest(numerator: int, denominator: int) -> int:
    """The integer that is nearest to a fraction; halves go away from zero. denominator: positive."""
    rounded = (2 * abs(numerator) + denominator) // (2 * denominator)
    return rounded if numerator >= 0 else -rounded


def clamp(value: int, limits: tuple[int, int]) -> int:
    """`value`, moved to the nearest limit where it lies outside."""
    return min(max(value, limits[0]), limits[1])


def quantized(value: Real, output: OracleOperand) -> int:
    """The stored integer of a real value: rounded in units of the scale, then the zero point, then saturated."""
    if isinstance(value, float) and math.isinf(value):
        return output.limits[0 if value < 0 else 1]
    numerator, denominator = value.as_integer_ratio()
    scale_numerator, scale_denominator = output.scale_ratio
    # Not reduced to lowest terms, which would take longer than all the rest.
    steps = nearest(numerator * scale_denominator, denominator * scale_numerator)
    return clamp(steps + output.zero_point, output.limits)


def rounded_float(value: Real, operand_type: AnyOperandType) -> float:
    """The nearest value of a float type (ties to even); infinity where it is too large."""
    return _rounded(_FLOATS[OPERAND_TYPES[operand_type].size], value)


_FLOATS = {2: struct.Struct("<e"), 4: struct.Struct("<f")}
"""Floats of so many bytes."""


def _rounded(form: struct.Struct, value: Real) -> float:
    try:
        return float(form.unpack(form.pack(float(value)))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def wrapped(value: int) -> int:
    """Two's complement wraparound to int32."""
    return (value + 2**31) % 2**32 - 2**31


def stored(value: Real, output: OracleOperand) -> int | float:
    """What is stored for a real value: rounded once to a float type, requantised, or an integer as it is."""
    return output.store(value)


_ACTIVATION_LIMITS: dict[int, tuple[float, float]] = {
    FusedActivation.RELU: (0, math.inf),
    FusedActivation.RELU1: (-1, 1),
    FusedActivation.RELU6: (0, 6),
}


def activated(value: Real, activation: int, output: OracleOperand) -> int | float:
    """What is stored after a fused activation: clamped; quantised integers at zero point + round(limit/scale)."""
    element = output.store(value)
    if activation == FusedActivation.NONE:
        return element
    low, high = output.activation_ranges[activation]
    return min(max(element, low), high)


def elementwise(
    first: OracleOperand, second: OracleOperand, combine: Callable[[Real, Real], int | float]
) -> list[Result]:
    """The one result of a binary operation with broadcasting; `combine` gives what is stored for two real values."""
    shape = broadcast_shape(first.dimensions, second.dimensions)
    return [Result(shape, list(map(combine, broadcast(first, shape), broadcast(second, shape))))]


def arithmetic(
    inputs: Inputs,
    outputs: Outputs,
    real: Callable[[Real, Real], Real],
    integer: Callable[[int, int], int],
) -> list[Result]:
    """ADD, SUB, MUL and DIV: inputs are two tensors and an activation code; int32 wraps around."""
    first, second, activation = map(present, inputs)
    if first.type is OperandType.TENSOR_INT32:
        return elementwise(first, second, lambda a, b: wrapped(integer(int(a), int(b))))
    code = int(activation.scalar)
    return elementwise(first, second, lambda a, b: activated(real(a, b), code, outputs[0]))


def each(operand: OracleOperand | None, output: OracleOperand, function: Callable[[Real], Real]) -> list[Result]:
    """The one result of a unary operation: what is stored for the function of each real value."""
    source = present(operand)
    return [Result(source.dimensions, [output.store(function(real)) for real in source.reals])]


def larger(first: Number, second: Number) -> Number:
    """The larger number, of equal ones the first (zeros of both signs are equal); NaN where one of them is NaN."""
    return second if first == first and (second > first or second != second) else first


def smaller(first: Number, second: Number) -> Number:
    """The smaller number, of equal ones the first (zeros of both signs are equal); NaN where one of them is NaN."""
    return second if first == first and (second < first or second != second) else first


def present(operand: OracleOperand | None) -> OracleOperand:
    """An operand that the operation cannot do without; raises ValueError where it was omitted."""
    if operand is None:
        raise ValueError("a required operand was omitted")
    return operand
