"""Memory that a burst keeps mapped under names given by its client, and the watchdog that releases it."""

from __future__ import annotations

import threading
import time
import weakref

from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Clock, MemoryMap

IDLE_NS = 2_000_000_000
"""How long a burst may be idle before the memory that it keeps is released (NNHAL-BURST-020)."""

_PATROL_SECONDS = 0.5


class Watchdog:
    """One thread for all bursts of a process, which lets them release what is idle, and runs while something is kept.

    patrol_seconds: how often it looks.
    """

    def __init__(self, patrol_seconds: float) -> None:
        self._patrol_seconds = patrol_seconds
        self._caches: weakref.WeakSet[MemoryCache] = weakref.WeakSet()
        self._lock = threading.RLock()  # what is collected in one of these calls may look for its own
        self._thread: threading.Thread | None = None

    def look_after(self, cache: MemoryCache) -> None:
        """Visit a cache from now on, until it keeps nothing."""
        with self._lock:
            self._caches.add(cache)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="burst-watchdog", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        time.sleep(self._patrol_seconds)
        while self._patrol():
            time.sleep(self._patrol_seconds)

    def _patrol(self) -> bool:
        """Visit every cache. False once none keeps anything: the thread ends, and the next memory starts another."""
        with self._lock:
            caches = list(self._caches)
        for cache in caches:
            cache.release_idle()
        with self._lock:
            for cache in caches:
                if not len(cache):
                    self._caches.discard(cache)
            if self._caches:
                return True
            self._thread = None
            return False


_WATCHDOG = Watchdog(_PATROL_SECONDS)


class MemoryCache:
    """Memory by name (a slot of HIDL, a memory identifier token of AIDL), and the mappings of named memory.

    It is a MemoryMap: memory that has a name is mapped once, any other each time. What is kept is never contents.
    """

    def __init__(self, memory_map: MemoryMap, clock: Clock, watchdog: Watchdog = _WATCHDOG) -> None:
        self._memory_map, self._clock, self._watchdog = memory_map, clock, watchdog
        self._memories: dict[int, Memory] = {}
        self._views: dict[Memory, memoryview] = {}
        self._lock = threading.RLock()  # a burst that is collected in one of these calls closes it
        self._used_ns = clock.now_ns()

    def __len__(self) -> int:
        return len(self._memories)

    def keep(self, name: int, memory: Memory) -> Memory:
        """Keep a memory under a name from now on."""
        with self._lock:
            if self._memories.get(name) != memory:
                self._forget(name)
                self._memories[name] = memory
                self._watchdog.look_after(self)
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

    def release_idle(self) -> None:
        """Release everything after a long enough idle time."""
        with self._lock:
            if self._clock.now_ns() - self._used_ns >= IDLE_NS:
                self._clear()

    def close(self) -> None:
        """Release everything, as the burst ends. What a running execution still keeps goes as idle memory does."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._memories.clear()
        self._views.clear()
