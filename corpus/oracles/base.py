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
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.vector_types import ChannelQuant
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

Real = int | float | Fraction
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
    _reals: dict[int | float, Fraction] = field(default_factory=dict, init=False, repr=False)
    """What stored numbers stand for, where all elements are quantised alike: the same numbers are read many times."""

    @functools.cached_property
    def raw(self) -> list[int | float]:
        """The stored elements, flat, in row-major order."""
        if self.array is None:
            raise ValueError("an output operand has no elements")
        elements: list[int | float] = self.array.ravel().tolist()
        return elements

    @functools.cached_property
    def is_quantized(self) -> bool:
        """True where elements stand for (element - zero point) * scale."""
        return OPERAND_TYPES[self.type].is_quantized

    @functools.cached_property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest integer that the type stores."""
        info = numpy.iinfo(OPERAND_TYPES[self.type].dtype)
        return int(info.min), int(info.max)

    @functools.cached_property
    def exact_scale(self) -> Fraction:
        """The scale of all elements as a fraction."""
        return Fraction(self.scale)

    def scale_at(self, flat_index: int) -> Fraction:
        """The exact scale of one element: per channel where the operand is quantised so."""
        if self.channel_quant is None:
            return self.exact_scale
        channel = unflatten(flat_index, self.dimensions)[self.channel_quant.channel_dim]
        return Fraction(self.channel_quant.scales[channel])

    def real(self, flat_index: int) -> Real:
        """The exact value of one element: a fraction where it is quantised, else the stored number."""
        element = self.raw[flat_index]
        if not self.is_quantized:
            return element
        if self.channel_quant is not None:
            return (int(element) - self.zero_point) * self.scale_at(flat_index)
        value = self._reals.get(element)
        if value is None:
            value = self._reals[element] = (int(element) - self.zero_point) * self.exact_scale
        return value

    def at(self, *index: int) -> Real:
        """The exact value of the element at a position."""
        return self.real(flatten(index, self.dimensions))

    @property
    def scalar(self) -> int | float:
        """The stored value of a scalar, or of a tensor with one element."""
        return self.raw[0]

    @property
    def integers(self) -> list[int]:
        """The stored elements as integers: axes, sizes, paddings."""
        return [int(element) for element in self.raw]


@dataclass
class Result:
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


def broadcast(operand: OracleOperand, shape: Shape) -> list[Real]:
    """The exact values that broadcasting puts at all positions of the output, in row-major order."""
    own = numpy.arange(count(operand.dimensions)).reshape(operand.dimensions)
    return [operand.real(flat_index) for flat_index in numpy.broadcast_to(own, shape).ravel().tolist()]


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
    # Not reduced to lowest terms, which would take longer than all the rest.
    scale = output.exact_scale
    steps = nearest(numerator * scale.denominator, denominator * scale.numerator)
    return clamp(steps + output.zero_point, output.limits)


def rounded_float(value: Real, operand_type: AnyOperandType) -> float:
    """The nearest value of a float type (ties to even); infinity where it is too large."""
    code = "<e" if OPERAND_TYPES[operand_type].size == 2 else "<f"
    try:
        return float(struct.unpack(code, struct.pack(code, float(value)))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def wrapped(value: int) -> int:
    """Two's complement wraparound to int32."""
    return (value + 2**31) % 2**32 - 2**31


def stored(value: Real, output: OracleOperand) -> int | float:
    """What is stored for a real value: rounded once to a float type, requantised, or an integer as it is."""
    if output.is_quantized:
        return quantized(value, output)
    if OPERAND_TYPES[output.type].dtype.startswith("float"):
        return rounded_float(value, output.type)
    return int(value)


_ACTIVATION_LIMITS: dict[int, tuple[Real | None, Real | None]] = {
    FusedActivation.NONE: (None, None),
    FusedActivation.RELU: (0, None),
    FusedActivation.RELU1: (-1, 1),
    FusedActivation.RELU6: (0, 6),
}


def activated(value: Real, activation: int, output: OracleOperand) -> int | float:
    """What is stored after a fused activation: clamped; quantised integers at zero point + round(limit/scale)."""
    low, high = _ACTIVATION_LIMITS[activation]
    element = stored(value, output)
    if low is not None:
        element = max(element, stored(low, output))
    if high is not None:
        element = min(element, stored(high, output))
    return element


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

    def combine(a: Real, b: Real) -> int | float:
        if first.type is OperandType.TENSOR_INT32:
            return wrapped(integer(int(a), int(b)))
        return activated(real(a, b), int(activation.scalar), outputs[0])

    return elementwise(first, second, combine)


def each(operand: OracleOperand | None, output: OracleOperand, function: Callable[[Real], Real]) -> list[Result]:
    """The one result of a unary operation: what is stored for the function of each real value."""
    source = present(operand)
    return [Result(source.dimensions, [stored(function(source.real(i)), output) for i in range(len(source.raw))])]


def present(operand: OracleOperand | None) -> OracleOperand:
    """An operand that the operation cannot do without; raises ValueError where it was omitted."""
    if operand is None:
        raise ValueError("a required operand was omitted")
    return operand
