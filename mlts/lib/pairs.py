"""Whether one thing takes longer than another, on a machine that does other things, too.

Both take turns, so that whatever slows the machine down meets both, and what is compared are neighbours. The shorter of
a few tries is the time of a turn: being interrupted makes it longer and never shorter. What seems slower is looked at
again, and only what is slower each time counts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

Step = Callable[[], float]
"""Does a thing once; the seconds that it took."""

SLOW = 1.5
"""How many times as long the slower one has to take."""
NOTICEABLE = 0.001
"""How many seconds longer at least: what comes and goes with caches and transports is less."""
_MOST = 0.75
"""The share of the turns in which it has to be slower."""
TURNS, TRIES = 8, 3
_LOOKS = 3


@dataclass(frozen=True)
class Slower:
    """What the last look has found. usual, slow: the medians, in seconds. ratio: of neighbours, the median."""

    usual: float
    slow: float
    ratio: float

    @property
    def told(self) -> str:
        """The two medians and their ratio in words."""
        return f"{1000 * self.slow:.3g} ms instead of {1000 * self.usual:.3g} ms, {self.ratio:.1f} times as long"


def slower(
    usual: Step,
    other: Step,
    *,
    slow: float = SLOW,
    noticeable: float = NOTICEABLE,
    turns: int = TURNS,
    tries: int = TRIES,
) -> Slower | None:
    """How much longer the other one takes; None unless each of three looks finds it slower.

    slow, noticeable: how many times as long, and how many seconds longer, counts.
    """
    found = None
    for _ in range(_LOOKS):
        found = _look(usual, other, slow, noticeable, turns, tries)
        if found is None:
            return None
    return found


def _look(usual: Step, other: Step, slow: float, noticeable: float, turns: int, tries: int) -> Slower | None:
    pairs = []
    for turn in range(turns):
        both = (usual, other) if turn % 2 == 0 else (other, usual)
        seconds = [min(step() for _ in range(tries)) for step in both]
        pairs.append(seconds if turn % 2 == 0 else seconds[::-1])
    far = [second > slow * first and second - first > noticeable for first, second in pairs]
    if sum(far) < _MOST * turns:
        return None
    first, second = (statistics.median(pair[place] for pair in pairs) for place in (0, 1))
    return Slower(first, second, statistics.median(pair[1] / pair[0] for pair in pairs))
