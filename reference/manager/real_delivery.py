"""Delivery in real time, for a manager that is a process of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable

from npu_conformance.reference.clock import Action
from npu_conformance.reference.real_time import RealTimers, run_safely

MOST_WAITING = 10_000
"""How many messages of a lane may wait for its client."""


class RealDelivery:
    """Delivery in real time. Each lane with messages has a thread, so that a slow client delays only itself."""

    def __init__(self) -> None:
        self._changed = threading.Lock()
        self._lanes: dict[Hashable, deque[Action]] = {}
        self._timers = RealTimers()
        self.now_ns = self._timers.now_ns

    def later(self, action: Action, delay_ns: int) -> None:
        """See Delivery."""
        self._timers.post(action, delay_ns)

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
            run_safely(action)
