"""The caller's memory: where the pointers that are passed to a runtime lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer

_CHUNK = 1 << 16
_ALIGNMENT = 64
"""Of every value: what a runtime of feature level 5 prefers at most."""


class CallerMemory(Protocol):
    """Bytes that both the caller and the runtime reach."""

    def room(self, size: int) -> Pointer:
        """Return a pointer to `size` bytes that nothing else uses."""
        ...

    def write(self, pointer: Pointer, data: bytes) -> None:
        """Store bytes behind a pointer."""
        ...

    def read(self, pointer: Pointer, length: int) -> bytes:
        """Return bytes behind a pointer."""
        ...


class PooledMemory:
    """Caller's memory in pools, each shared by many values. make_pool: creates one, which its maker closes."""

    def __init__(self, make_pool: Callable[[int], Pool]) -> None:
        self._make_pool = make_pool
        self._pools: dict[int, Pool] = {}
        self._current: Pool | None = None
        self._used = 0

    def room(self, size: int) -> Pointer:
        """Return a pointer to `size` bytes, aligned to 64, that no other call has returned."""
        if self._current is None or self._used + size > self._current.memory.size:
            self._current = self._make_pool(max(_CHUNK, size))
            self._pools[self._current.memory.token] = self._current
            self._used = 0
        pointer = Pointer(self._current.memory, self._used)
        self._used += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        return pointer

    def write(self, pointer: Pointer, data: bytes) -> None:
        """Store bytes behind a pointer."""
        self._pools[pointer.memory.token].write(pointer.offset, data)

    def read(self, pointer: Pointer, length: int) -> bytes:
        """Return bytes behind a pointer."""
        return self._pools[pointer.memory.token].read(pointer.offset, length)


def place(memory: CallerMemory, data: bytes) -> Pointer:
    """Put bytes into the caller's memory; returns where they are."""
    pointer = memory.room(len(data))
    memory.write(pointer, data)
    return pointer
