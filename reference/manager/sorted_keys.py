"""A sorted collection in blocks, in which adding and removing cost no more than a search, at any size."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item", bound=tuple[Any, ...])

_BLOCK = 512
"""Items of each half after a split: a block with more than twice as many is split."""


class SortedKeys(Generic[Item]):
    """Distinct tuples in ascending order."""

    def __init__(self) -> None:
        self._blocks: list[list[Item]] = []
        self._lasts: list[Item] = []
        """The last item of each block."""

    def add(self, item: Item) -> None:
        """Put an item in its place."""
        if not self._blocks:
            self._blocks.append([item])
            self._lasts.append(item)
            return
        index = min(bisect_left(self._lasts, item), len(self._lasts) - 1)
        block = self._blocks[index]
        insort(block, item)
        self._lasts[index] = block[-1]
        if len(block) > 2 * _BLOCK:
            self._blocks.insert(index + 1, block[_BLOCK:])
            del block[_BLOCK:]
            self._lasts.insert(index, block[-1])

    def remove(self, item: Item) -> None:
        """Take an item away. Raises KeyError where it is not there."""
        index = bisect_left(self._lasts, item)
        block = self._blocks[index] if index < len(self._blocks) else []
        place = bisect_left(block, item)
        if place == len(block) or block[place] != item:
            raise KeyError(item)
        del block[place]
        if block:
            self._lasts[index] = block[-1]
        else:
            del self._blocks[index], self._lasts[index]

    def first(self) -> Item | None:
        """The smallest item; None where there is none."""
        return self._blocks[0][0] if self._blocks else None

    def after(self, bound: tuple[Any, ...]) -> Iterator[Item]:
        """The items greater than `bound`, ascending; the collection must not change meanwhile."""
        index = bisect_right(self._lasts, bound)
        for block in self._blocks[index : index + 1]:
            yield from block[bisect_right(block, bound) :]
        for block in self._blocks[index + 1 :]:
            yield from block

    def __iter__(self) -> Iterator[Item]:
        for block in self._blocks:
            yield from block

    def __reversed__(self) -> Iterator[Item]:
        for block in reversed(self._blocks):
            yield from reversed(block)

    def __len__(self) -> int:
        return sum(map(len, self._blocks))
