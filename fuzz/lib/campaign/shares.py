"""Who gets the next round: fuzzers share the time by what they still find, and none is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from npu_conformance.fuzz.lib.campaign.documents import EngineName, RoundLine

_FINDING = 20.0
"""A finding counts as so many new inputs."""
_MEMORY = 0.5
"""How much of what was known of an arm is kept when a round has ended."""
_MOST = 8.0
"""The most productive arm gets so many times what an unproductive one gets."""


class Arm(NamedTuple):
    """A fuzzer with the engine that chooses its inputs."""

    fuzzer: str
    engine: EngineName


class Shares:
    """Weighted turns: the arm with the least time spent, divided by its weight, is next."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._spent = dict.fromkeys(arms, 0.0)
        self._rates = dict.fromkeys(arms, 0.0)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Those that take part."""
        return tuple(self._spent)

    def next(self, running: Sequence[Arm] = (), seconds: float = 1.0) -> Arm:
        """The next arm. running: those that have a round now, of so many seconds."""
        return min(self._spent, key=lambda arm: (self._spent[arm] + running.count(arm) * seconds, self.arms.index(arm)))

    def count(self, line: RoundLine) -> None:
        """Learn from a round."""
        arm = Arm(line.fuzzer, line.engine)
        if arm not in self._spent:
            return
        time = line.seconds + line.start_seconds
        rate = (line.inputs + _FINDING * len(line.findings)) / max(time, 0.1)
        self._rates[arm] = _MEMORY * self._rates[arm] + (1 - _MEMORY) * rate
        self._spent[arm] += time / self.weight(arm)

    def weight(self, arm: Arm) -> float:
        """From 1 up to the most, by its share of what the best arm finds in a second."""
        best = max(self._rates.values())
        return 1.0 if best == 0.0 else 1.0 + (_MOST - 1.0) * self._rates[arm] / best

    def drop(self, fuzzer: str) -> None:
        """Leave out a fuzzer that cannot attack the subject."""
        for arm in self.arms:
            if arm.fuzzer == fuzzer:
                del self._spent[arm], self._rates[arm]
