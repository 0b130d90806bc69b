"""What recipes are written with: decisions, the operation that is called, and operands with seeded data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32, omitted, tensor
from npu_conformance.specs.neuralnetworks.catalogue import argument_since
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_tables import Argument, Signature
from npu_conformance.specs.versions import OLDEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Graph, VectorOperand

Item = TypeVar("Item")

LARGEST_SIZE = 4
_SCALES = (0.25, 0.0625, 0.1, 0.0078125)


class Unfit(Exception):
    """The decisions lead to no valid model; others would."""


class Decisions(Protocol):
    """Where recipes get their decisions from: Hypothesis, or a fuzzer's bytes. 0 and the first item are the mildest."""

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at most 65536."""
        ...

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        ...


class Numbers(Protocol):
    """Where recipes get elements from: numpy's generator, or one with the same method."""

    def integers(self, low: int, high: int, size: Any = None, dtype: Any = ..., endpoint: bool = False) -> Array:
        """Integers from low to high, which is excluded unless `endpoint`."""
        ...


_TRUE = 128
"""Any byte but 0 is true."""
_OF_TRUTHS = ("LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "REDUCE_ALL", "REDUCE_ANY")


@dataclass(frozen=True)
class Form:
    """An operation with one of its signatures and one combination of its types (type variables, each with a type)."""

    operation: str
    signature: Signature
    types: Mapping[str, str]

    @functools.cached_property
    def kinds(self) -> Mapping[str, OperandType]:
        """The types of inputs and outputs by name; an input goes before an output of its name."""
        arguments = (*self.signature.outputs, *self.signature.inputs)
        named = {argument.name: self.types.get(argument.type, argument.type) for argument in arguments}
        return {name: OperandType[kind] for name, kind in named.items() if kind in OperandType.__members__}

    @functools.cached_property
    def inputs(self) -> Mapping[str, Argument]:
        """The inputs of the signature by name."""
        return {argument.name: argument for argument in self.signature.inputs}

    def input_counts(self, version: Version) -> Sequence[int] | None:
        """The lengths of the list of inputs that a version allows; None where it is a matter of the operation."""
        counts = self.signature.input_counts
        return counts and [count for count in counts if self._newest[count] <= version]

    @functools.cached_property
    def _newest(self) -> Mapping[int, Version]:
        """The version that brought the newest of so many inputs."""
        inputs, counts = self.signature.inputs, self.signature.input_counts or ()
        return {count: max(map(argument_since, inputs[:count]), default=OLDEST) for count in counts}

    def __str__(self) -> str:
        types = " ".join(f"{name}={kind}" for name, kind in self.types.items())
        return " ".join(part for part in (self.operation, self.signature.variant, types) if part)


@dataclass
class Call:
    """One call while its operands are made.

    count: length of the list of inputs, None where the operation takes a list. results: scale and zero point of
    results by name, where they are not those of the first quantised input. result_count: number of results.
    graphs: that IF or WHILE refers to; declared: its results, which no rule can tell.
    """

    form: Form
    version: Version
    decisions: Decisions
    random: Numbers
    count: int | None = None
    results: dict[str, tuple[float, int]] = field(default_factory=dict)
    result_count: int | None = None
    graphs: list[Graph] = field(default_factory=list)
    declared: list[VectorOperand] = field(default_factory=list)

    def kind(self, name: str) -> OperandType:
        """The type of an argument; the first result is called as the catalogue calls it."""
        return self.form.kinds[name]

    def argument(self, name: str) -> Argument:
        """An input of the signature."""
        return self.form.inputs[name]

    def has(self, name: str) -> bool:
        """True where the list of inputs is long enough to have the input."""
        position = self.form.signature.position(name)
        return position >= 0 and (self.count is None or position < self.count)

    def flag(self) -> bool:
        """Yes or no, rather no."""
        return bool(self.decisions.below(2))

    def between(self, low: int, high: int) -> int:
        """A number in [low, high], rather low."""
        return low + self.decisions.below(high - low + 1)

    def size(self, low: int = 1) -> int:
        """A small size."""
        return self.between(low, max(low, LARGEST_SIZE))

    def shape(self, name: str, ranks: Sequence[int] = (1, 2, 3, 4)) -> tuple[int, ...]:
        """A small shape of a rank that the signature allows."""
        rank = self.decisions.pick(self.argument(name).rank or tuple(ranks))
        return tuple(self.size() for _ in range(rank))

    def axis(self, rank: int, *, negative: bool = True) -> int:
        """An axis, counted from either end if that is legal."""
        axis = self.decisions.below(rank)
        return axis - rank if negative and self.flag() else axis

    def layout(self) -> bool:
        """Whether images are NCHW."""
        return self.has("nchw_layout") and self.flag()

    def image(self, nchw: bool, height: int, width: int, channels: int, batch: int = 0) -> tuple[int, int, int, int]:
        """A shape of images in their layout. batch: drawn if 0."""
        batch = batch or self.between(1, 2)
        return (batch, channels, height, width) if nchw else (batch, height, width, channels)

    def few(self) -> int:
        """A count that multiplies a size, such as the outputs of a channel."""
        return self.between(1, 2)

    def several(self) -> int:
        """A number of parts, of inputs or of copies, or a size that is multiplied."""
        return self.between(1, 3)

    def parts(self) -> int:
        """A number of results, or of inputs of one kind."""
        return self.several()

    def window(self) -> tuple[int, int]:
        """Height and width of a window."""
        return self.between(1, 3), self.between(1, 3)

    def beyond(self) -> int:
        """How far an image reaches beyond a window."""
        return self.decisions.below(3)

    def strides(self) -> tuple[int, int]:
        """Width and height of a step."""
        return self.between(1, 3), self.between(1, 3)

    def dilations(self) -> tuple[int, int]:
        """Height and width."""
        return self.between(1, 2), self.between(1, 2)

    def resized(self, sizes: Mapping[str, int], image: Mapping[str, int], *, halves: bool) -> Mapping[str, int]:
        """What becomes of the sizes of an image: `sizes`, which were drawn, or others. halves: they are factors."""
        return sizes

    def axes(self, rank: int) -> list[int]:
        """Some axes, at least one."""
        return [axis for axis in range(rank) if self.flag()] or [self.decisions.below(rank)]

    def order(self, rank: int) -> list[int]:
        """The axes in any order."""
        left, order = list(range(rank)), []
        while left:
            order.append(left.pop(self.decisions.below(len(left))))
        return order

    def touched(self, rank: int) -> Sequence[bool]:
        """Which axes are cut, padded or repeated, if they are; the others certainly are not."""
        return (True,) * rank

    def broadcast(self, large: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two shapes that broadcast: this one, or a part of it, and one with fewer sizes or axes."""
        small = tuple(size if self.flag() else 1 for size in large)
        return large, small[self.decisions.below(len(large)) :] if self.flag() else small

    def scale(self) -> float:
        """A scale of a quantised operand."""
        return self.decisions.pick(_SCALES)

    def tensor(self, name: str, shape: Sequence[int], data: Array | None = None, **details: Any) -> OperandSpec:
        """A tensor for an argument; see `tensor_of`."""
        return self.tensor_of(self.kind(name), shape, data, **details)

    def tensor_of(
        self,
        kind: OperandType,
        shape: Sequence[int],
        data: Array | None = None,
        *,
        positive: bool = False,
        nonzero: bool = False,
        constant: bool = False,
        quantization: tuple[float, int] | None = None,
    ) -> OperandSpec:
        """A model input, or a constant. data: real or stored values; by default random ones of moderate size.

        positive, nonzero: no element stands for 0 or less, for 0. quantization: scale and zero point; drawn if None.
        """
        constant = self.is_constant(constant)
        info = OPERAND_TYPES[kind]
        quant = None
        if kind is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL:
            axis = self.decisions.below(len(shape))
            quant, quantization = ([self.scale() for _ in range(shape[axis])], axis), (0.0, 0)
        scale, zero = self._quantization(kind, positive) if quantization is None else quantization
        if data is None:
            data = self._data(kind, shape, zero, positive, nonzero)
        scale = scale if info.is_quantized else 0.0
        return tensor(kind, shape, data, scale=scale, zero_point=zero, channel_quant=quant, constant=constant)

    def is_constant(self, wanted: bool) -> bool:
        """Whether a new tensor is a constant. wanted: the recipe says that it has to be one."""
        return wanted

    def _quantization(self, kind: OperandType, positive: bool) -> tuple[float, int]:
        info = OPERAND_TYPES[kind]
        if not info.is_quantized or info.zero_points is None:
            return 0.0, 0
        low, high = info.zero_points
        return self.scale(), low if positive else self.between(low, high)

    def _data(self, kind: OperandType, shape: Sequence[int], zero: int, positive: bool, nonzero: bool) -> Array:
        import numpy

        dtype = numpy.dtype(OPERAND_TYPES[kind].dtype)
        if kind is OperandType.TENSOR_BOOL8:
            truths = self.random.integers(0, 2, tuple(shape), dtype)
            return truths * _TRUE if self.form.operation in _OF_TRUTHS and self.flag() else truths
        if dtype.kind == "f":
            steps = self.random.integers(1 if positive else -16, 17, tuple(shape))
            return numpy.where(nonzero & (steps == 0), 3, steps) / 8
        if kind is OperandType.TENSOR_INT32:
            low, high = 1 if positive else -100, 100
        else:
            low, high = zero + 1 if positive else numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
        values = self.random.integers(low, high, tuple(shape), endpoint=True)
        other = zero + 1 if zero < high else zero - 1
        return numpy.where(nonzero & (values == zero), other, values)

    def weight(self, terms: int) -> float:
        """By what power of 2 weights are multiplied of which each result sums so many."""
        return 1.0

    def quantized_products(self, terms: int, one: VectorOperand, other: VectorOperand, low: int, high: int) -> None:
        """Give the output a quantisation for sums of so many products of two operands.

        low, high: how often the scale of a product goes into the scale of the output.
        """
        self.quantized_result("output", largest_scale(one) * largest_scale(other) * self.between(low, high))

    def quantized_result(self, name: str, scale: float | None = None) -> None:
        """Give a result a quantisation of its own. scale: drawn if None."""
        low, high = OPERAND_TYPES[self.kind(name)].zero_points or (0, 0)
        self.results[name] = (self.scale() if scale is None else scale, self.between(low, high))

    def default(self, argument: Argument) -> OperandSpec:
        """What stands for an input that a recipe does not give: any legal value of a parameter, or nothing."""
        kind = OperandType[self.form.types.get(argument.type, argument.type)]
        if argument.optional:
            return omitted(kind, (1,) * (argument.rank or (1,))[0])
        if argument.name == "activation" and self._computes_integers():
            return int32(0)
        if kind is OperandType.INT32 and argument.allowed:
            return int32(self.decisions.pick(argument.allowed))
        if kind is OperandType.BOOL:
            return boolean(self.flag())
        raise ValueError(f"{self.form}: the recipe gives no {argument.name}")

    def _computes_integers(self) -> bool:
        return self.form.types.get("T") == "TENSOR_INT32"


def largest_scale(operand: VectorOperand) -> float:
    """The scale of an operand, or the largest of its channels."""
    return max(operand.channel_quant.scales) if operand.channel_quant else operand.scale


Arguments = Mapping[str, OperandSpec | Sequence[OperandSpec]]
"""Inputs by name of the catalogue; a list where the signature has one."""

Recipe = Callable[[Call], Arguments]
