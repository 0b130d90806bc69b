"""Where mutators get their decisions from: a string of bytes, so that any engine can drive them and shrink them."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

SIZE = 64
"""Bytes of one string of choices; what is drawn behind its end is 0, the mildest choice."""


class Choices:
    """Decisions read from bytes, two bytes each."""

    def __init__(self, data: bytes) -> None:
        padded = data + bytes(len(data) % 2)
        self._numbers = iter(struct.unpack(f"<{len(padded) // 2}H", padded))

    @classmethod
    def seeded(cls, seed: int) -> Choices:
        """The choices of a seed."""
        return cls(random.Random(seed).randbytes(SIZE))

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at most 65536."""
        return next(self._numbers, 0) % limit

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, which must not be empty."""
        return items[next(self._numbers, 0) % len(items)]
