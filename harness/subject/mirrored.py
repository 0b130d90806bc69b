"""Shared memory beside a copy that says what each of its bytes has to be."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.subject.pools import Pool

Span = tuple[int, int]
"""Where bytes begin, and how many there are."""


class MirroredPool:
    """A pool of which a case knows every byte. spans: what is looked at of it; the rest is never used."""

    def __init__(self, pool: Pool, spans: Sequence[Span], fill: int) -> None:
        """fill: what each byte is at first."""
        self.memory = pool.memory
        self._pool, self._spans = pool, spans
        self._copy = bytearray(pool.memory.size)
        for start, length in spans:
            self.write(start, bytes([fill]) * length)

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes."""
        self._pool.write(offset, data)
        self._copy[offset : offset + len(data)] = data

    def take(self, offset: int, size: int) -> bytes:
        """Read bytes that somebody else was to write: they have to be these from now on."""
        data = bytes(self._pool.read(offset, size))
        self._copy[offset : offset + size] = data
        return data

    def check(self, name: str) -> None:
        """See that no other byte has changed. name: of the pool, in the message."""
        for start, length in self._spans:
            found, expected = self._pool.read(start, length), self._copy[start : start + length]
            if found != expected:
                at = next(at for at in range(length) if found[at] != expected[at])
                what = f"byte {start + at} of {name}, which nobody was to write"
                checks.fail(what, str(expected[at]), str(found[at]))
