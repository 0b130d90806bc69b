"""What is being made smaller at the moment, for people who wait: each try of a hang costs seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Minimising:
    """Told by the rounds of this machine, each in a thread of its own, and shown by the campaign."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now: dict[object, tuple[str, float]] = {}

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
