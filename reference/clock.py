"""Timers for actions that happen later, and a virtual clock, on which time stands still until a test moves it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Protocol

from npu_conformance.specs.errors import IllegalArgument

Action = Callable[[], None]


class Timers(Protocol):
    """A source of time, and a queue of actions. Actions due at one time run in the order in which they were posted."""

    def now_ns(self) -> int:
        """Nanoseconds of a monotonic clock."""
        ...

    def post(self, action: Action, delay_ns: int = 0) -> None:
        """Run the action once the delay has passed, never inside this call."""
        ...


class VirtualClock:
    """Nothing runs before `advance`, so no call is interrupted."""

    def __init__(self, now_ns: int = 0) -> None:
        self._now_ns = now_ns
        self._order = itertools.count()
        self._queue: list[tuple[int, int, Action]] = []

    def now_ns(self) -> int:
        """Nanoseconds since the clock was made."""
        return self._now_ns

    def post(self, action: Action, delay_ns: int = 0) -> None:
        """See Timers."""
        heapq.heappush(self._queue, (self._now_ns + delay_ns, next(self._order), action))

    def advance(self, duration_ns: int) -> None:
        """Move time forward, also by zero, and run what falls due, including what those actions post in turn.

        Raises IllegalArgument for a negative duration.
        """
        if duration_ns < 0:
            raise IllegalArgument(f"time cannot go back by {-duration_ns} ns")
        end = self._now_ns + duration_ns
        while self.run_next(end):
            pass
        self._now_ns = end

    def run_next(self, end_ns: int) -> bool:
        """Move time to the next action that falls due by `end_ns`, and run it; return False where there is none."""
        if not self._queue or self._queue[0][0] > end_ns:
            return False
        due, _, action = heapq.heappop(self._queue)
        self._now_ns = max(self._now_ns, due)  # another thread may post what is due before time has moved on
        action()
        return True
