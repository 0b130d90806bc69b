"""Delivers the manager's messages: after the call that caused them, in order for each client."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from npu_conformance.reference.clock import Action, VirtualClock


class Delivery(Protocol):
    """A source of time, and a queue of actions."""

    def now_ns(self) -> int:
        """Nanoseconds of a monotonic clock."""
        ...

    def later(self, action: Action, delay_ns: int) -> None:
        """Run an action once the delay has passed."""
        ...

    def post(self, lane: Hashable, action: Action) -> bool:
        """Run an action soon, behind those posted on the same lane before; return False where too many wait."""
        ...


class VirtualDelivery:
    """Delivery on a virtual clock: everything waits until a test moves it, and then runs in one order."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.now_ns = clock.now_ns

    def later(self, action: Action, delay_ns: int) -> None:
        """See Delivery."""
        self._clock.post(action, delay_ns)

    def post(self, lane: Hashable, action: Action) -> bool:
        """See Delivery."""
        self._clock.post(action)
        return True
