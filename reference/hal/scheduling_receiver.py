"""Brings events to the callback, for which nothing ever waits (NPU-HAL-018, -035)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from npu_conformance.reference.clock import Timers
from npu_conformance.reference.crew import CREW
from npu_conformance.reference.real_time import run_safely
from npu_conformance.specs.errors import InterfaceError

Send = Callable[[], None]


class Receiver(Protocol):
    """Brings messages to one callback, in order, until it is closed."""

    def send(self, message: Send) -> None:
        """Take a message on its way; returns at once."""
        ...

    def close(self) -> None:
        """Bring nothing more than what is on its way already."""
        ...

    def settle(self) -> None:
        """Wait until everything has arrived, unless the callback is blocked."""
        ...


class Posted:
    """Brings messages when the clock moves, in the thread that moves it: for callbacks of the same process."""

    def __init__(self, clock: Timers) -> None:
        self._clock = clock
        self._is_open = True

    def send(self, message: Send) -> None:
        """Post the message."""
        self._clock.post(lambda: self._bring(message))

    def close(self) -> None:
        """Forget what has not been brought."""
        self._is_open = False

    def settle(self) -> None:
        """Return at once: nothing is left when the clock has moved."""

    def _bring(self, message: Send) -> None:
        if self._is_open:
            _deliver(message)


class Courier:
    """Brings messages in a thread, which it has while any is left: for callbacks that may block or hang.

    capacity: where so many messages wait, the callback counts as dead, and nothing more is brought.
    """

    def __init__(self, capacity: int = 10_000, patience_s: float = 1.0) -> None:
        self._capacity = capacity
        self._patience_s = patience_s
        self._waiting: deque[Send] = deque()
        """The messages that have not arrived; the first is on its way."""
        self._changed = threading.Condition()
        self._is_open = True
        self._is_blocked = False
        self._is_running = False

    def send(self, message: Send) -> None:
        """Hand the message to the thread."""
        with self._changed:
            if not self._is_open:
                return
            if len(self._waiting) >= self._capacity:
                self._stop()
                return
            self._waiting.append(message)
            was_running, self._is_running = self._is_running, True
        if not was_running:
            CREW.do(self._run)

    def close(self) -> None:
        """Drop the waiting messages, and end the thread once the message that it brings has arrived."""
        with self._changed:
            self._stop()

    def settle(self) -> None:
        """Wait until no message waits. A callback that was once blocked is not waited for again until it goes on."""
        with self._changed:
            if not self._is_blocked:
                self._is_blocked = not self._changed.wait_for(lambda: not self._waiting, self._patience_s)

    def _stop(self) -> None:
        self._is_open = False
        self._waiting.clear()
        self._changed.notify_all()

    def _run(self) -> None:
        while (message := self._next()) is not None:
            run_safely(lambda: _deliver(message))
            with self._changed:
                if self._waiting:
                    self._waiting.popleft()
                self._is_blocked = False
                self._changed.notify_all()

    def _next(self) -> Send | None:
        with self._changed:
            self._is_running = bool(self._waiting)
            self._changed.notify_all()
            return self._waiting[0] if self._waiting else None


def _deliver(message: Send) -> None:
    """Call a callback. A dead one needs nothing, and the errors of a living one are its own."""
    with suppress(InterfaceError):
        message()
