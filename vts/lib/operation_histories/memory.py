"""The memory of a history: pools in which arguments lie at any place, and a copy that says what each byte has to be."""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec

from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.mirrored import MirroredPool

_KINDS = ("ashmem", "mmap_fd", "ashmem")
_LEAST, _REQUESTS = 2048, 4
"""Bytes of a pool, and how many requests fit at least."""
_ALIGNMENTS = (8, 8, 16, 64)
_TRIES = 12


class Region(msgspec.Struct, frozen=True):
    """Where an argument lies. length: at least 1, since an empty argument has a place, too."""

    pool: int
    offset: int
    length: int

    def __str__(self) -> str:
        return f"pool {self.pool} at {self.offset}"

    def overlaps(self, other: Region) -> bool:
        """True where they have a byte in common."""
        is_apart = self.offset + self.length <= other.offset or other.offset + other.length <= self.offset
        return self.pool == other.pool and not is_apart


class NoRoomError(Exception):
    """Raised where no place was found."""


class Memory:
    """Pools, of which a request may name any. size: bytes of the largest request."""

    def __init__(self, context: CaseContext, size: int) -> None:
        self._bytes = max(_LEAST, _REQUESTS * size)
        self.pools = [MirroredPool(context.pool(self._bytes, kind), [(0, self._bytes)], FILL) for kind in _KINDS]

    def place(self, length: int, taken: Iterable[Region], chance: random.Random) -> Region:
        """A place that nobody uses. Raises NoRoomError."""
        used, wanted = list(taken), max(length, 1)
        for _ in range(_TRIES):
            alignment = chance.choice(_ALIGNMENTS)
            offset = chance.randrange((self._bytes - wanted) // alignment + 1) * alignment
            found = Region(chance.randrange(len(self.pools)), offset, wanted)
            if not any(map(found.overlaps, used)):
                return found
        raise NoRoomError

    def write(self, region: Region, data: bytes) -> None:
        """Store an input."""
        self.pools[region.pool].write(region.offset, data)

    def clear(self, region: Region) -> None:
        """Store what no output is."""
        self.write(region, bytes([FILL]) * region.length)

    def take(self, region: Region) -> bytes:
        """Read what an execution was to write."""
        return self.pools[region.pool].take(region.offset, region.length)

    def check(self) -> None:
        """See that no byte has changed but those that a request has named."""
        for number, pool in enumerate(self.pools):
            pool.check(f"pool {number}")
