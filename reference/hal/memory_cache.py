"""Memory that a burst keeps mapped under names given by its client, and the watchdog that releases it."""

from __future__ import annotations

import threading

from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Clock, MemoryMap

IDLE_NS = 2_000_000_000
"""How long a burst may be idle before the memory that it keeps is released (NNHAL-BURST-020)."""

_PATROL_SECONDS = 0.5


class MemoryCache:
    """Memory by name (a slot of HIDL, a memory identifier token of AIDL), and the mappings of named memory.

    It is a MemoryMap: memory that has a name is mapped once, any other each time. What is kept is never contents.
    patrol_seconds: how often the watchdog looks. It runs only while something is kept.
    """

    def __init__(self, memory_map: MemoryMap, clock: Clock, patrol_seconds: float = _PATROL_SECONDS) -> None:
        self._memory_map, self._clock, self._patrol_seconds = memory_map, clock, patrol_seconds
        self._memories: dict[int, Memory] = {}
        self._views: dict[Memory, memoryview] = {}
        self._lock = threading.RLock()  # a burst that is collected in one of these calls closes it
        self._closed = threading.Event()
        self._watchdog: threading.Thread | None = None
        self._used_ns = clock.now_ns()

    def __len__(self) -> int:
        return len(self._memories)

    def keep(self, name: int, memory: Memory) -> Memory:
        """Keep a memory under a name from now on."""
        with self._lock:
            if self._memories.get(name) != memory:
                self._forget(name)
                self._memories[name] = memory
                self._start_watchdog()
            self._used_ns = self._clock.now_ns()
        return memory

    def memory(self, name: int) -> Memory | None:
        """The memory of a name; None where the name is not known."""
        return self._memories.get(name)

    def forget(self, name: int) -> None:
        """Release a memory; an unknown name has no effect."""
        with self._lock:
            self._forget(name)

    def _forget(self, name: int) -> None:
        memory = self._memories.pop(name, None)
        if memory is not None and memory not in self._memories.values():
            self._views.pop(memory, None)

    def map(self, memory: Memory) -> memoryview:
        """The bytes of a memory. Raises ServiceError."""
        known = self._views.get(memory)
        if known is not None:
            return known
        view = self._memory_map.map(memory)
        with self._lock:
            if memory in self._memories.values():
                self._views[memory] = view
        return view

    def release_idle(self) -> bool:
        """Release everything after a long enough idle time; return True where nothing is kept (any more)."""
        with self._lock:
            if self._clock.now_ns() - self._used_ns >= IDLE_NS:
                self._clear()
            return not self._memories

    def close(self) -> None:
        """Release everything for good."""
        self._closed.set()
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._memories.clear()
        self._views.clear()

    def _start_watchdog(self) -> None:
        if self._watchdog is None and not self._closed.is_set():
            self._watchdog = threading.Thread(target=self._watch, name="burst-watchdog", daemon=True)
            self._watchdog.start()

    def _watch(self) -> None:
        while not self._closed.wait(self._patrol_seconds):
            if self.release_idle() and self._retire():
                return

    def _retire(self) -> bool:
        """End the watchdog, unless memory has come meanwhile."""
        with self._lock:
            if self._memories:
                return False
            self._watchdog = None
            return True
