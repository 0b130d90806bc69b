"""What rounds are doing at the moment, for people who wait: to make a hang smaller takes seconds for each try."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class UnderWay:
    """Told by the rounds of this machine, each in a thread of its own, and shown by the campaign.

    deaths: signatures of what has ended a process in any of them, and is a finding.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now: dict[object, tuple[str, float]] = {}
        self._runs: dict[object, int] = {}
        self.deaths: set[str] = set()

    def note(self, who: object, what: str) -> None:
        """Somebody is making this smaller, or nothing any more, where it is empty."""
        if not what:
            self._now.pop(who, None)
        elif self._now.get(who, ("", 0.0))[0] != what:
            self._now[who] = what, self._clock()

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """This is being made smaller as long as the context lasts."""
        who = object()
        self.note(who, what)
        try:
            yield
        finally:
            self.note(who, "")

    def now(self) -> dict[str, float]:
        """For how many seconds what has been made smaller."""
        return {what: self._clock() - since for what, since in tuple(self._now.values())}

    def ran(self, who: object, count: int) -> None:
        """A round has run so many inputs so far; 0 where it is over, and what it has brought counts itself."""
        self._runs[who] = count
        if not count:
            del self._runs[who]

    @property
    def runs(self) -> int:
        """Inputs that the rounds have run which are not over."""
        return sum(tuple(self._runs.values()))
