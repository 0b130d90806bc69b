"""Where mutators get their decisions from: a string of bytes, so that any engine can drive them and shrink them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

SIZE = 64
"""Bytes of one string of choices; what is drawn behind its end is 0, the mildest choice."""


class Choices:
    """Decisions read from bytes, two bytes each."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @classmethod
    def seeded(cls, seed: int) -> Choices:
        """The choices of a seed."""
        return cls(random.Random(seed).randbytes(SIZE))

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at most 65536."""
        chunk = self._data[self._position : self._position + 2]
        self._position += 2
        return int.from_bytes(chunk, "little") % limit

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, which must not be empty."""
        return items[self.below(len(items))]
