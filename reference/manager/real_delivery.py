"""Delivery in real time, for a manager that is a process of its own."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
import traceback
from collections import deque
from collections.abc import Hashable

from npu_conformance.reference.manager.delivery import Action

MOST_WAITING = 10_000
"""How many messages a lane may have that its client has not taken."""


class RealDelivery:
    """Real time. Each lane that has something to do has a thread, so that a slow client delays only itself."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lanes: dict[Hashable, deque[Action]] = {}
        self._timers: list[tuple[int, int, Action]] = []
        self._order = itertools.count()
        self._timing = False
        self.now_ns = time.monotonic_ns

    def later(self, action: Action, delay_ns: int) -> None:
        """See Delivery."""
        with self._changed:
            heapq.heappush(self._timers, (self.now_ns() + delay_ns, next(self._order), action))
            if not self._timing:
                self._timing = True
                threading.Thread(target=self._run_timers, daemon=True).start()
            self._changed.notify_all()

    def post(self, lane: Hashable, action: Action) -> bool:
        """See Delivery."""
        with self._changed:
            waiting = self._lanes.get(lane)
            if waiting is not None:
                waiting.append(action)
                return len(waiting) <= MOST_WAITING
            self._lanes[lane] = deque([action])
        threading.Thread(target=self._run_lane, args=(lane,), daemon=True).start()
        return True

    def _run_lane(self, lane: Hashable) -> None:
        while True:
            with self._changed:
                if not self._lanes[lane]:
                    del self._lanes[lane]
                    return
                action = self._lanes[lane].popleft()
            _run(action)

    def _run_timers(self) -> None:
        while True:
            with self._changed:
                while (wait := self._timers[0][0] - self.now_ns()) > 0:
                    self._changed.wait(wait / 1e9)
                action = heapq.heappop(self._timers)[2]
            _run(action)
            with self._changed:
                if not self._timers:
                    self._timing = False
                    return


def _run(action: Action) -> None:
    try:
        action()
    except Exception:
        # A bug of one receiver: what is behind it on the lane still has to come.
        traceback.print_exc()
