"""A call of hardware's sizes and parameters: the same recipes, asked for what drivers choose their kernels by.

One size of a model lies around a vector, a tile or a block (8, 16, 32, 64, 128 and their neighbours), another one may
be of medium size, and the others are small, so that the work stays small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.strategies.calls import Call, largest_scale
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import VectorOperand
    from npu_conformance.specs.neuralnetworks.enums import OperandType

_WIDE = ((8, 16, 24), (7, 9, 15, 17), (32, 48, 64), (31, 33, 63, 65), (96, 127, 128, 129), (12, 20, 10, 40))
"""Multiples of vectors and tiles, what lies beside them, and others; of each the dice take one."""
_MEDIUM = (8, 4, 16, 7, 9, 5, 12, 17, 3, 15)
_BLOCKS = (8, 4, 16, 8, 5, 9)
_BATCHES = (1, 2, 4, 8)
_SMALL = (2, 1, 3, 4, 1, 5)
_LITTLE = (2, 3, 1)
"""Small sizes of tensors of rank 3 or more."""
_COUNTS = (1, 2, 1, 4, 8, 1, 3, 16)
_PARTS = (2, 3, 4, 1, 5, 8)
_GEOMETRIES = (
    (3, 3, 1, 1), (3, 3, 2, 2), (1, 1, 1, 1), (3, 3, 1, 1), (3, 3, 2, 2), (2, 2, 2, 2), (5, 5, 1, 1), (1, 1, 2, 2),
    (5, 5, 2, 2), (2, 2, 1, 1), (4, 4, 2, 2), (7, 7, 1, 1), (1, 3, 1, 1), (3, 1, 1, 1), (3, 3, 1, 2), (3, 3, 3, 3),
    (2, 3, 2, 1), (7, 7, 2, 2), (4, 4, 1, 1), (1, 2, 1, 3), (3, 5, 1, 1), (1, 1, 3, 1), (3, 2, 4, 4),
)  # fmt: skip
"""Height and width of windows, and of the steps that go with them."""
_DILATIONS = ((1, 1), (2, 2), (1, 2), (2, 1), (3, 3), (2, 3), (1, 1))
_BEYOND = (1, 2, 0, 3, 4, 5, 6, 8, 13, 16)
_BARELY = (0, 1, 2)
"""The same where channels are many."""
_FACTORS = (None, 2.0, 1.0, 0.5, 4.0, 3.0, None)
"""By how much images are resized; None for any size."""
_RANK_4 = 4


@dataclass
class HardwareCall(Call):
    """widest: the largest size. sizes: so many of those that a recipe asks for may be wide, one at a time.

    blocks: a second size is one of blocks, and batches are wide.
    """

    widest: int = field(kw_only=True)
    sizes: int = field(kw_only=True)
    blocks: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Decide which sizes are not small."""
        self._asked, self._has_input = 0, False
        self._wide = self.decisions.pick(range(1, self.sizes + 1))
        others = [one for one in range(1, self.sizes + 1) if one != self._wide]
        self._medium = self.decisions.pick(others if self.blocks else (0, 1, 2))
        self._is_whole: bool | None = None
        self._steps = [1, 1]
        self._quantized: dict[OperandType, tuple[float, int]] = {}

    def _wide_size(self) -> int:
        sizes = self.decisions.pick([one for one in _WIDE if min(one) <= self.widest])
        fitting = [size for size in sizes if size <= self.widest]
        return int(fitting[int(self.random.integers(0, len(fitting)))])

    def size(self, low: int = 1) -> int:
        """A size of hardware, or a small one."""
        self._asked += 1
        if self._asked == self._wide:
            return self._wide_size()
        kind = (_BLOCKS if self.blocks else _MEDIUM) if self._asked == self._medium else _SMALL
        return max(low, int(self.decisions.pick(kind)))

    def few(self) -> int:
        """A count from 1 to 16."""
        return int(self.decisions.pick(_COUNTS))

    def several(self) -> int:
        """A number of parts, up to 8."""
        return int(self.decisions.pick(_PARTS))

    def window(self) -> tuple[int, int]:
        """Height and width of a window that drivers have kernels for, or nearly."""
        height, width, *self._steps = self.decisions.pick(_GEOMETRIES)
        return height, width

    def beyond(self) -> int:
        """By how much the image is larger than the window: from 0, in both directions, to more than a tile."""
        if self._is_whole is None:
            self._is_whole = self.decisions.pick((False, False, False, True))
        has_many_channels = self._wide <= self._asked
        return 0 if self._is_whole else int(self.decisions.pick(_BARELY if has_many_channels else _BEYOND))

    def strides(self) -> tuple[int, int]:
        """Those that go with the window."""
        height, width = self._steps
        return width, height

    def dilations(self) -> tuple[int, int]:
        """Equal ones mostly."""
        height, width = self.decisions.pick(_DILATIONS)
        return height, width

    def image(self, nchw: bool, height: int, width: int, channels: int, batch: int = 0) -> tuple[int, int, int, int]:
        """Up to three batches, or a wide batch."""
        batches = _BATCHES if self.blocks else (1, 2, 1, 3)
        return super().image(nchw, height, width, channels, batch or self.decisions.pick(batches))

    def shape(self, name: str, ranks: Sequence[int] = (1, 2, 3, 4)) -> tuple[int, ...]:
        """Any of the axes is wide, rather the last one; rank 4, for which drivers have most kernels, is frequent."""
        allowed = tuple(self.argument(name).rank or ranks)
        rank = self.decisions.pick((*allowed, *((_RANK_4,) if _RANK_4 in allowed else ())))
        small = _SMALL if rank < _RANK_4 - 1 else _LITTLE
        sizes = [int(self.decisions.pick(small)) for axis in range(rank)]
        if rank:
            size, wide = self._wide_size(), self.decisions.pick((rank - 1, *range(rank)))
            sizes[wide] = size
            if self.blocks and (other := self.decisions.pick(range(rank))) != wide:
                sizes[other] = int(self.decisions.pick(_BLOCKS))
        return tuple(sizes)

    def resized(self, sizes: Mapping[str, int], image: Mapping[str, int], *, halves: bool) -> Mapping[str, int]:
        """Drawn sizes, or such that both factors are those that drivers have kernels for."""
        factor = self.decisions.pick(_FACTORS)
        if factor is None:
            return sizes
        return {name: round(2 * factor) - 1 if halves else max(1, int(size * factor)) for name, size in image.items()}

    def axes(self, rank: int) -> list[int]:
        """Mostly the last one, the first one, those of an image or all; else any."""
        every = list(range(rank))
        usual = [every[-1:], every[1:-1] or every, every[:1], every[-2:], every]
        chosen = self.decisions.pick(range(len(usual) + 2))
        if chosen < len(usual):
            return list(usual[chosen])
        bits = self.between(1, 2**rank - 1)
        return [axis for axis in every if bits >> axis & 1]

    def order(self, rank: int) -> list[int]:
        """Each permutation."""
        number, left, order = self.decisions.pick(range(math.factorial(rank))), list(range(rank)), []
        while left:
            number, at = divmod(number, len(left))
            order.append(left.pop(at))
        return order

    def touched(self, rank: int) -> Sequence[bool]:
        """All axes, one alone, all but the first or the last, or those of an image."""
        every = range(rank)
        sets = [every, *([axis] for axis in every), every[1:], every[:-1], every[1:-1]]
        chosen = self.decisions.pick([one for one in sets if one] if rank > 1 else [every])
        return [axis in chosen for axis in every]

    def broadcast(self, large: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The same shape; one element; the last axis or all but it, also of lower rank; an axis alone; both at once."""
        ones, rank = (1,) * len(large), len(large)
        kinds = [
            large, (*large[:-1], 1), (*ones[:-1], large[-1]), large[-1:], ones, (1,), (large[0], *ones[1:]),
            (1, *large[1:]), large[1:], _every_other(large, 0), _every_other(large, 0),
            (*ones[: rank // 2], large[rank // 2], *ones[rank // 2 + 1 :]),
            (*large[: rank // 2], 1, *large[rank // 2 + 1 :]),
        ]  # fmt: skip
        number = self.decisions.pick(range(len(kinds)))
        return _every_other(large, 1) if number == _CROSSED else large, kinds[number] or (1,)

    def is_constant(self, wanted: bool) -> bool:
        """True where a tensor is a constant: any may be, once there is an input."""
        is_constant = wanted or (self._has_input and self.decisions.pick((False, True, False)))
        self._has_input = self._has_input or not is_constant
        return is_constant

    def _quantization(self, kind: OperandType, positive: bool) -> tuple[float, int]:
        """The quantisation of the first tensor, or a zero point at an end, in the middle or anywhere."""
        info = OPERAND_TYPES[kind]
        if not info.is_quantized or info.zero_points is None:
            return 0.0, 0
        if kind in self._quantized and not positive and self.decisions.pick((False, True)):
            return self._quantized[kind]
        found = self.scale(), self._zero_point(*info.zero_points, positive=positive)
        self._quantized.setdefault(kind, found)
        return found

    def _zero_point(self, low: int, high: int, *, positive: bool = False) -> int:
        """A zero point in the middle, at an end, beside an end, or far from all of these."""
        middle = (low + high + 1) // 2
        if positive or low == high:
            return low
        return int(self.decisions.pick((middle, low, high, low + 1, high - 40, low + 100)))

    def quantized_result(self, name: str, scale: float | None = None) -> None:
        """Give a result a quantisation of its own, or that of the first tensor."""
        kind = self.kind(name)
        low, high = OPERAND_TYPES[kind].zero_points or (0, 0)
        like = self._quantized.get(kind)
        if like is not None and self.decisions.pick((False, True)):
            self.results[name] = like
            return
        self.results[name] = (self.scale() if scale is None else scale, self._zero_point(low, high))

    def weight(self, terms: int) -> float:
        """Such that sums do not all end at the limits of an activation."""
        return float(2.0 ** -round(math.log2(max(terms, 1)) / 2))

    def quantized_products(self, terms: int, one: VectorOperand, other: VectorOperand, low: int, high: int) -> None:
        """Choose the quantisation of sums of products: they fill the range of codes, and few lie beyond it."""
        kind = self.kind("output")
        lowest, highest = OPERAND_TYPES[kind].zero_points or (0, 0)
        middles = [_middle(operand) for operand in (one, other)]
        mean = terms * middles[0] * middles[1]
        spread = math.sqrt(terms) * math.prod(math.hypot(middle, _DEVIATION) for middle in middles)
        times = max(1.0, (abs(mean) / 2 + spread) / self.decisions.pick((64, 48, 90)))
        zero = round((lowest + highest) / 2 - mean / times + self.decisions.pick((0, 40, -40)))
        scale = largest_scale(one) * largest_scale(other) * float(numpy.float32(times)) * 1.001
        self.results["output"] = (scale, min(max(zero, lowest), highest))


_CROSSED = 10
"""The broadcast in which both shapes grow."""


def _every_other(shape: tuple[int, ...], first: int) -> tuple[int, ...]:
    """Every other size, counted from 0 or 1, and 1 between them."""
    return tuple(size if axis % 2 == first else 1 for axis, size in enumerate(shape))


_DEVIATION = 74.0
"""Standard deviation of codes that are drawn from all there are."""


def _middle(operand: VectorOperand) -> float:
    """The mean of the codes that are drawn, counted from the zero point."""
    if operand.channel_quant is not None or OPERAND_TYPES[operand.type].zero_points is None:
        return 0.0
    low, high = OPERAND_TYPES[operand.type].zero_points or (0, 0)
    return (low + high) / 2 - operand.zero_point
