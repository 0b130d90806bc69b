"""How long a test waits for what comes by itself: so long that only a hang ends the wait, on the busiest machine."""

import time
from collections.abc import Callable

SECONDS = 600.0


def eventually(predicate: Callable[[], bool]) -> None:
    """Wait for a condition that something else is about to bring about."""
    deadline = time.monotonic() + SECONDS
    while not predicate():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)
