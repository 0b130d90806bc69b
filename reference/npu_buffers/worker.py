"""The one thread of an allocator, in the manager's time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial

from npu_conformance.reference.manager.delivery import Delivery

NS_PER_BYTE = 0.25
"""4 GB/s: how long the worker takes to clear or to load memory, on the virtual clock."""


class Worker:
    """Does a client's jobs one at a time. A job is begun, takes its time, and is finished."""

    def __init__(self, delivery: Delivery, lock: threading.RLock) -> None:
        self._delivery, self._lock = delivery, lock
        self._jobs: deque[tuple[Callable[[], bool], Callable[[], None], int]] = deque()
        self._is_busy = False

    def add(self, begin: Callable[[], bool], finish: Callable[[], None], size: int) -> None:
        """Add a job over so many bytes. begin: false where there is nothing to wait for. The caller has the lock."""
        self._jobs.append((begin, finish, size))
        if not self._is_busy:
            self._next()

    def clear(self) -> None:
        """Forget what waits."""
        self._jobs.clear()

    def _next(self) -> None:
        self._is_busy = False
        while self._jobs and not self._is_busy:
            begin, finish, size = self._jobs.popleft()
            if begin():
                self._is_busy = True
                self._delivery.later(partial(self._finish, finish), 1 + int(size * NS_PER_BYTE))

    def _finish(self, finish: Callable[[], None]) -> None:
        with self._lock:
            finish()
            self._next()
