"""Deadlines on a busy machine: the time for which the other side had no processor does not count.

Nor does time for which this side had none, as where the machine was suspended: the other side may have had none either.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

_MOST = 3.0
"""By how many times its length a deadline is put off at most: somebody is waiting."""
_LONGEST_GAP = 1.5
"""Seconds after which whoever waits has looked again, unless this process stood still."""


def starved(pid: int) -> float:
    """Seconds for which the first thread of a process was ready to run, and had no processor; 0 where nobody counts."""
    return _waited(f"/proc/{pid}/schedstat")


def starved_threads(pid: int) -> float:
    """The same of all its threads together: whoever is to answer may be any of them, or wait for another one's lock."""
    try:
        return sum(_waited(f"/proc/{pid}/task/{thread}/schedstat") for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0.0


def _waited(path: str) -> float:
    try:
        return int(Path(path).read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


class Patience(threading.local):
    """Says whether a deadline has passed, looked at from when somebody began to wait; each thread waits for itself.

    It has to be asked again and again. starved: the seconds for which the other side has had no processor so far.
    """

    def __init__(self, starved: Callable[[], float] = lambda: 0.0) -> None:
        self._starved = starved
        self._deadline: float | None = None
        self._began = self._before = self._looked = self._stood_still = 0.0

    def is_over(self, deadline: float, since: float | None = None) -> bool:
        """True where the deadline (on time.monotonic()) has passed, put off by what either side did not have.

        since: when the wait began, where that is not now.
        """
        now = time.monotonic()
        if deadline != self._deadline:
            self._deadline, self._before, self._stood_still = deadline, self._starved(), 0.0
            self._began = self._looked = now if since is None else since
        self._stood_still += max(0.0, now - self._looked - _LONGEST_GAP)
        self._looked = now
        if now <= deadline:
            return False
        # The other side may be another process by now, or have lost threads: it has counted from 0.
        starved = max(0.0, min(self._starved() - self._before, _MOST * (deadline - self._began)))
        return now > deadline + self._stood_still + starved
