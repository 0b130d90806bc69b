"""A call inside a graph: recipes ask it for shapes and tensors, and get those that the graph has already."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.generators.operands import OperandSpec
from npu_conformance.corpus.random_graphs.results import ROOM
from npu_conformance.corpus.strategies.calls import Call, Unfit
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.random_graphs.dice import Dice
    from npu_conformance.corpus.random_graphs.recipes import GraphRecipe
    from npu_conformance.corpus.vectors import Array, VectorOperand

LEAST, LEAST_DIVISOR = 1 / 16, 1 / 8
"""How far from 0 values are that must be positive, and those that must not be 0."""
_FREE_CHANNELS = frozenset({
    "AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
    "INSTANCE_NORMALIZATION", "SPACE_TO_DEPTH", "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND",
})  # fmt: skip
"""Operations whose parameters do not depend on the number of channels."""


@dataclass(frozen=True)
class Reused(OperandSpec):
    """A tensor that the graph has already, with the values it has there."""

    name: str = ""


@dataclass
class Tensors:
    """The tensors of a graph that later operations may read. unread: results that nothing has read yet."""

    operands: dict[str, VectorOperand] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    by_type: dict[OperandType, list[str]] = field(default_factory=dict)
    unread: dict[str, None] = field(default_factory=dict)

    def add(self, name: str, operand: VectorOperand, values: Array) -> None:
        """Let later operations read a tensor."""
        # A recipe may declare a result like a tensor that it was given: a constant's value is none of its properties.
        self.operands[name] = operand if operand.value is None else operand.with_value(None)
        self.values[name] = values
        self.by_type.setdefault(OperandType(operand.type), []).append(name)

    def pick(self, kind: OperandType, dice: Dice, fits: Callable[[VectorOperand, Array], bool]) -> str | None:
        """A tensor of a type that fits, rather one that nothing has read yet; None where there is none."""
        names = self.by_type.get(kind, ())
        fitting = [name for name in names if fits(self.operands[name], self.values[name])]
        unread = [name for name in fitting if name in self.unread]
        if unread and dice.chance(3, 4):
            return dice.pick(unread)
        return dice.pick(fitting) if fitting else None


@dataclass
class GraphCall(Call):
    """A call of which the operands are, where possible, tensors of the graph.

    sizes: that new tensors have. has_input: False while the graph has no input, so that the next new tensor is one.
    wide: the most elements of a new tensor, if one of the sizes is wide; else 0.
    """

    dice: Dice = field(kw_only=True)
    recipe: GraphRecipe = field(kw_only=True)
    tensors: Tensors = field(kw_only=True)
    sizes: Sequence[int] = field(kw_only=True)
    has_input: bool = field(kw_only=True)
    wide: int = field(kw_only=True)

    def size(self, low: int = 1) -> int:
        """One of the few sizes of the graph."""
        return max(low, self.dice.pick(self.sizes))

    def scale(self) -> float:
        """A scale from 0.1 to 2."""
        return 0.1 + 1.9 * (1 + self.dice.below(256)) / 256

    def shape(self, name: str, ranks: Sequence[int] = (1, 2, 3, 4)) -> tuple[int, ...]:
        """The shape of a tensor of the graph that the argument could be, most of the time; else a new one."""
        allowed = tuple(self.argument(name).rank or ranks)
        found = None
        if self.dice.chance(7, 8):
            found = self.tensors.pick(self.kind(name), self.dice, lambda one, _: len(one.dimensions) in allowed)
        if found is not None:
            return self.tensors.operands[found].dimensions
        wanted = [rank for rank in allowed if rank in self.recipe.ranks] or allowed
        return tuple(self.size() for _ in range(self.dice.pick(wanted)))

    def image(self, nchw: bool, height: int, width: int, channels: int, batch: int = 0) -> tuple[int, int, int, int]:
        """The shape of an image of the graph that is at least as large, most of the time; else a new one."""
        free = self.form.operation in _FREE_CHANNELS

        def fits(one: VectorOperand, _: Array) -> bool:
            if len(one.dimensions) != 4:
                return False
            found = one.dimensions
            count, *sizes, depth = (found[0], found[2], found[3], found[1]) if nchw else found
            large = sizes[0] >= height and sizes[1] >= width
            return large and batch in (0, count) and (free or depth == channels)

        kind = self.kind(self.form.signature.inputs[0].name)
        name = self.tensors.pick(kind, self.dice, fits) if self.dice.chance(7, 8) else None
        if name is None:
            return super().image(nchw, height, width, channels, batch)
        return self.tensors.operands[name].dimensions  # type: ignore[return-value]

    def quantized_result(self, name: str, scale: float | None = None) -> None:
        """Where any quantisation will do, take that of a tensor of the graph most of the time."""
        found = self.tensors.pick(self.kind(name), self.dice, _anything) if scale is None else None
        if found is None or not self.dice.chance(3, 4):
            super().quantized_result(name, scale)
            return
        operand = self.tensors.operands[found]
        self.results[name] = (operand.scale, operand.zero_point)

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
        """A tensor of the graph where one fits; else an input of the graph or, every other time, a constant."""
        dimensions = tuple(shape)
        if math.prod(dimensions) > (self.wide or max(self.recipe.most_elements, ROOM)):
            raise Unfit(f"{self.form}: a new tensor of dimensions {list(dimensions)}")
        if data is None and not constant:
            needs = {"positive": positive, "nonzero": nonzero}
            found = self._existing(kind, dimensions, quantization, **needs)
            if found is not None:
                return found
            constant = self.has_input and self.dice.chance(1, 2)
            self.has_input = self.has_input or not constant
        return super().tensor_of(
            kind, shape, data, positive=positive, nonzero=nonzero, constant=constant, quantization=quantization
        )

    def connected(self, spec: OperandSpec) -> OperandSpec:
        """A tensor of the graph for an operand that a recipe made without asking; sometimes the operand as it is."""
        operand = spec.operand
        kind = OperandType(operand.type)
        free = OPERAND_TYPES[kind].dtype.startswith("float") and operand.dimensions and spec.data is not None
        if not free or spec.constant or isinstance(spec, Reused):
            return spec
        return self._existing(kind, operand.dimensions, (operand.scale, operand.zero_point)) or spec

    def _existing(
        self,
        kind: OperandType,
        shape: tuple[int, ...],
        quantization: tuple[float, int] | None,
        *,
        positive: bool = False,
        nonzero: bool = False,
    ) -> Reused | None:
        if not self.dice.chance(7, 8):
            return None

        def fits(one: VectorOperand, values: Array) -> bool:
            if one.dimensions != shape or one.channel_quant is not None:
                return False
            if quantization is not None and quantization != (one.scale, one.zero_point):
                return False
            return not (positive or nonzero) or _is_away_from_zero(one, values, positive=positive)

        name = self.tensors.pick(kind, self.dice, fits)
        if name is None:
            return None
        operand = self.tensors.operands[name]
        return Reused(operand, self.tensors.values[name], shape=operand.dimensions, name=name)

    def _data(self, kind: OperandType, shape: Sequence[int], zero: int, positive: bool, nonzero: bool) -> Array:
        """Elements of AOSP's ranges: floats from -2 to 2, int32 from 0 to 255, quantised ones of all values."""
        dtype = numpy.dtype(OPERAND_TYPES[kind].dtype)
        if dtype.kind == "f":
            reals: Array = self.random.integers(1, 1 << 16, tuple(shape), endpoint=True) / (1 << 14) - 2.0
            if positive:
                return numpy.maximum(numpy.abs(reals), LEAST)
            return numpy.where(nonzero & (numpy.abs(reals) < LEAST_DIVISOR), LEAST_DIVISOR, reals)
        if kind is OperandType.TENSOR_INT32:
            return self.random.integers(int(positive or nonzero), 255, tuple(shape), endpoint=True)
        return super()._data(kind, shape, zero, positive, nonzero)


def _anything(operand: VectorOperand, values: Array) -> bool:
    return True


def _is_away_from_zero(operand: VectorOperand, values: Array, *, positive: bool) -> bool:
    if values.dtype.kind == "f":
        return bool((values >= LEAST).all() if positive else (numpy.abs(values) >= LEAST_DIVISOR).all())
    return bool((values > operand.zero_point).all() if positive else (values != operand.zero_point).all())
