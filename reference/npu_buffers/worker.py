"""The one thread of an allocator, in the manager's time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial

from npu_conformance.reference.manager.delivery import Delivery

NS_PER_BYTE = 0.25
"""The speed at which the worker clears or loads memory on the virtual clock: 4 GB/s."""


class Worker:
    """Does a client's jobs one at a time, in order; each takes its time and is then finished."""

    def __init__(self, delivery: Delivery, lock: threading.RLock) -> None:
        self._delivery = delivery
        self._lock = lock
        self._jobs: deque[tuple[Callable[[], None], int]] = deque()
        self._is_busy = False

    def add(self, finish: Callable[[], None], size: int) -> None:
        """Add a job over so many bytes. The lock is held by the caller, and around `finish` when its turn comes."""
        self._jobs.append((finish, size))
        if not self._is_busy:
            self._next()

    def clear(self) -> None:
        """Forget the waiting jobs."""
        self._jobs.clear()

    def _next(self) -> None:
        self._is_busy = bool(self._jobs)
        if self._jobs:
            finish, size = self._jobs.popleft()
            self._delivery.later(partial(self._finish, finish), int(size * NS_PER_BYTE))

    def _finish(self, finish: Callable[[], None]) -> None:
        with self._lock:
            finish()
            self._next()
