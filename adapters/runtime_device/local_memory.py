"""Memory of an app that lives in the runtime's own process, beside the pools that came from elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import MemoryMap


class LocalMemory:
    """A MemoryMap with bytes of this process beside the pools of another one, told apart by negative tokens."""

    def __init__(self, pools: MemoryMap) -> None:
        self._pools = pools
        self._local: dict[int, bytearray] = {}
        self._tokens = itertools.count(-1, -1)

    def map(self, memory: Memory) -> memoryview:
        """The bytes of local memory, or of a pool. Raises ServiceError for an unknown pool."""
        local = self._local.get(memory.token)
        return self._pools.map(memory) if local is None else memoryview(local)

    @contextmanager
    def scratch(self) -> Iterator[Scratch]:
        """Caller's memory for as long as a model is built: a finished model has copied its constants."""
        scratch = Scratch(self._local, self._tokens)
        try:
            yield scratch
        finally:
            scratch.forget()


class Scratch:
    """See harness.nnapi.caller_memory.CallerMemory: every value has bytes of its own."""

    def __init__(self, local: dict[int, bytearray], tokens: Iterator[int]) -> None:
        self._local, self._tokens, self._mine = local, tokens, list[int]()

    def room(self, size: int) -> Pointer:
        """A pointer to `size` bytes that nothing else uses."""
        token = next(self._tokens)
        self._local[token] = bytearray(size)
        self._mine.append(token)
        return Pointer(Memory("ashmem", size, token))

    def write(self, pointer: Pointer, data: bytes) -> None:
        """Store bytes."""
        self._local[pointer.memory.token][pointer.offset : pointer.offset + len(data)] = data

    def read(self, pointer: Pointer, length: int) -> bytes:
        """Return bytes."""
        return bytes(self._local[pointer.memory.token][pointer.offset : pointer.offset + length])

    def forget(self) -> None:
        """Let the bytes go, as far as nobody has mapped them."""
        for token in self._mine:
            del self._local[token]
