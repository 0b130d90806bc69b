"""Memory that a burst keeps mapped under the names that its client gives, and the watchdog that lets go of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Clock, MemoryMap

IDLE_NS = 2_000_000_000
"""How long nothing may be asked of a burst before what it keeps is released (NNHAL-BURST-020)."""

_PATROL_SECONDS = 0.5


@dataclass
class _Entry:
    memory: Memory
    view: memoryview | None = None


class MemoryCache:
    """Memory by name: a slot of HIDL, a memory identifier token of AIDL. What is kept is the mapping, never contents.

    patrol_seconds: how often the watchdog looks. It runs only while something is kept.
    """

    def __init__(self, memory_map: MemoryMap, clock: Clock, patrol_seconds: float = _PATROL_SECONDS) -> None:
        self._memory_map, self._clock, self._patrol_seconds = memory_map, clock, patrol_seconds
        self._entries: dict[int, _Entry] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watchdog: threading.Thread | None = None
        self._used_ns = clock.now_ns()

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, name: int, memory: Memory) -> Memory:
        """Know a memory by a name. What is mapped stays mapped where the name means the same memory as before."""
        with self._lock:
            known = self._entries.get(name)
            if known is None or known.memory != memory:
                self._entries[name] = _Entry(memory)
            self._used_ns = self._clock.now_ns()
            self._start_watchdog()
        return memory

    def memory(self, name: int) -> Memory | None:
        """The memory of a name; null where the name is not known."""
        entry = self._entries.get(name)
        return None if entry is None else entry.memory

    def forget(self, name: int) -> None:
        """Let go of a memory; without effect where the name is not known."""
        with self._lock:
            self._entries.pop(name, None)

    def view(self, name: int, memory: Memory) -> memoryview:
        """The bytes of a memory, mapped where they are not yet. Raises ServiceError."""
        entry = self._entries.get(name)
        if entry is None or entry.memory != memory:
            return self._memory_map.map(memory)
        if entry.view is None:
            entry.view = self._memory_map.map(memory)
        return entry.view

    def named(self, names: Mapping[Memory, int]) -> MemoryMap:
        """A map for one execution, which takes memory that has a name from here and any other from below."""
        return _Named(self, self._memory_map, names)

    def release_idle(self) -> bool:
        """Let go of everything if nothing was asked for long enough. True where nothing is kept (any more)."""
        with self._lock:
            if self._clock.now_ns() - self._used_ns >= IDLE_NS:
                self._entries.clear()
            return not self._entries

    def close(self) -> None:
        """Let go of everything for good."""
        self._closed.set()
        with self._lock:
            self._entries.clear()

    def _start_watchdog(self) -> None:
        if self._watchdog is None and not self._closed.is_set():
            self._watchdog = threading.Thread(target=self._watch, name="burst-watchdog", daemon=True)
            self._watchdog.start()

    def _watch(self) -> None:
        while not self._closed.wait(self._patrol_seconds):
            if self.release_idle() and self._retire():
                return

    def _retire(self) -> bool:
        """End the watchdog, unless something has come meanwhile."""
        with self._lock:
            if self._entries:
                return False
            self._watchdog = None
            return True


class _Named:
    def __init__(self, cache: MemoryCache, below: MemoryMap, names: Mapping[Memory, int]) -> None:
        self._cache, self._below, self._names = cache, below, names

    def map(self, memory: Memory) -> memoryview:
        name = self._names.get(memory)
        return self._below.map(memory) if name is None else self._cache.view(name, memory)
