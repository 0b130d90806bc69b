"""A virtual clock: time stands still until a test moves it, and what falls due then runs, in order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class VirtualClock:
    """Source of time and queue of what is to happen. Nothing runs before `advance`, so no call is interrupted."""

    def __init__(self, now_ns: int = 0) -> None:
        self._now_ns = now_ns
        self._order = itertools.count()
        self._queue: list[tuple[int, int, Callable[[], None]]] = []

    def now_ns(self) -> int:
        """Nanoseconds since the clock was made."""
        return self._now_ns

    def post(self, action: Callable[[], None], delay_ns: int = 0) -> None:
        """Run the action once the delay has passed. Actions due at one time run in the order they were posted."""
        heapq.heappush(self._queue, (self._now_ns + delay_ns, next(self._order), action))

    def advance(self, duration_ns: int) -> None:
        """Move time forward, also by zero, and run what falls due, including what those actions post in turn."""
        end = self._now_ns + duration_ns
        while self.run_next(end):
            pass
        self._now_ns = end

    def run_next(self, end_ns: int) -> bool:
        """Move time to the next action that falls due by `end_ns`, and run it. False: there is none."""
        if not self._queue or self._queue[0][0] > end_ns:
            return False
        due, _, action = heapq.heappop(self._queue)
        self._now_ns = max(self._now_ns, due)  # another thread may post what is due before time has moved on
        action()
        return True
