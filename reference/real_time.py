"""Real time, for a driver and a manager that are a process of their own."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
import traceback

from npu_conformance.reference.clock import Action


class RealTimers:
    """Timers on CLOCK_MONOTONIC. Actions run one after the other, in a thread that lives while any is left."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: list[tuple[int, int, Action]] = []
        self._order = itertools.count()
        self._running = False

    def now_ns(self) -> int:
        """The nanoseconds of CLOCK_MONOTONIC."""
        return time.monotonic_ns()

    def post(self, action: Action, delay_ns: int = 0) -> None:
        """See Timers."""
        with self._changed:
            heapq.heappush(self._queue, (self.now_ns() + delay_ns, next(self._order), action))
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._queue:
                    self._running = False
                    return
                while (wait := self._queue[0][0] - self.now_ns()) > 0:
                    self._changed.wait(wait / 1e9)
                action = heapq.heappop(self._queue)[2]
            run_safely(action)


def run_safely(action: Action) -> None:
    """Run an action in a thread that has to go on with others: an exception is printed."""
    try:
        action()
    except Exception:
        traceback.print_exc()
