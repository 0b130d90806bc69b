"""Decisions and numbers of a seed: the same on every machine and with every Python and numpy.

They are made of BLAKE2 and integers alone, since numpy does not promise to keep what its generators draw.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Item = TypeVar("Item")

_MASK = (1 << 64) - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64 (Steele, Lea and Flood, 2014)."""
_FEW = 16
"""Up to so many numbers are made faster one by one than by arrays."""


class Dice:
    """Decisions, as recipes want them, and elements."""

    def __init__(self, seed: str) -> None:
        self._state = int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=8).digest(), "big")

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        self._state = (self._state + _STEP) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * _FIRST) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * _SECOND) & _MASK
        return ((mixed ^ (mixed >> 31)) >> 11) % limit

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def chance(self, part: int, whole: int) -> bool:
        """True in `part` of `whole` cases."""
        return self.below(whole) < part

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in any order."""
        left, mixed = list(items), []
        while left:
            mixed.append(left.pop(self.below(len(left))))
        return mixed

    def integers(self, low: int, high: int, size: Any = None, dtype: Any = numpy.int64, endpoint: bool = False) -> Any:
        """Integers from low to high, which is excluded unless `endpoint`. size: None for one number, else a shape."""
        span = high - low + int(endpoint)
        if size is None:
            return low + self.below(span)
        shape = (size,) if isinstance(size, int) else size
        values = self._numbers(math.prod(shape)) % span + low
        return values.astype(dtype, copy=False).reshape(shape)

    def _numbers(self, count: int) -> Array:
        """The numbers of 53 bits that so many calls of `below` would draw from."""
        if count <= _FEW:
            return numpy.array([self.below(_MASK) for _ in range(count)], numpy.int64)
        mixed = numpy.arange(1, count + 1, dtype=numpy.uint64)
        mixed *= numpy.uint64(_STEP)
        mixed += numpy.uint64(self._state)
        self._state = (self._state + count * _STEP) & _MASK
        mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(_FIRST)
        mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(_SECOND)
        return ((mixed ^ (mixed >> numpy.uint64(31))) >> numpy.uint64(11)).view(numpy.int64)
