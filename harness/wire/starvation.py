"""Deadlines on a busy machine: the time for which the other side had no processor does not count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

_MOST = 3.0
"""By how many times its length a deadline is put off at most: somebody is waiting."""


def starved(pid: int) -> float:
    """Seconds for which the first thread of a process was ready to run, and had no processor; 0 where nobody counts."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


class Patience(threading.local):
    """Says whether a deadline has passed, looked at from when somebody began to wait; each thread waits for itself.

    starved: the seconds for which the other side has had no processor so far.
    """

    def __init__(self, starved: Callable[[], float] = lambda: 0.0) -> None:
        self._starved = starved
        self._deadline: float | None = None
        self._began = self._before = 0.0

    def is_over(self, deadline: float) -> bool:
        """True where the deadline (on time.monotonic()) has passed, put off by what the other side did not have."""
        now = time.monotonic()
        if deadline != self._deadline:
            self._deadline, self._began, self._before = deadline, now, self._starved()
        if now <= deadline:
            return False
        return now > deadline + min(self._starved() - self._before, _MOST * (deadline - self._began))
