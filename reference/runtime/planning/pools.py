"""Memory of the runtime's own, which its devices reach just as the memory of its callers."""

from __future__ import annotations

import itertools
import threading

from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import MemoryMap

FIRST_TOKEN = 1 << 48
"""Of what is the runtime's own: tokens of callers stay below it."""


class LocalPools:
    """Pools in this process, over the memory of the callers: for devices that live in this process too."""

    def __init__(self, callers: MemoryMap) -> None:
        self._callers = callers
        self._own: dict[int, bytearray] = {}
        self._tokens = itertools.count(FIRST_TOKEN)
        self._lock = threading.Lock()

    def make(self, size: int) -> Memory:
        """See Pools."""
        size = max(size, 1)
        content = bytearray(size)
        with self._lock:
            token = next(self._tokens)
            self._own[token] = content
        return Memory("ashmem", size, token)

    def free(self, memory: Memory) -> None:
        """See Pools. Whoever has it mapped keeps the bytes."""
        with self._lock:
            self._own.pop(memory.token, None)

    def map(self, memory: Memory) -> memoryview:
        """The bytes of a pool of either kind."""
        own = self._own.get(memory.token)
        return self._callers.map(memory) if own is None else memoryview(own)
