"""Chooses further models: those that meet three things which guards ask for, where no chosen one has all three.

They are drawn with a second size of blocks (`candidates.BLOCKS`), which the others seldom have. What kernels are known
to ask for goes first (`asked.KNOWN`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.drawn.asked import KNOWN, Asked, asked
from npu_conformance.corpus.drawn.candidates import BLOCKS, numbered, work
from npu_conformance.corpus.strategies.calls import Unfit

if TYPE_CHECKING:
    from npu_conformance.corpus.strategies import Form
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.specs.versions import Version

SHARE = 0.12
"""So many more models are there than without these."""
_POOL = 1_500
"""So many are drawn to choose from, the unfit ones among them."""
_KNOWN = 1_000_000
"""What a known condition counts."""
_COST = 2_000.0
"""A model with so much work counts half as much as a small one that meets the same."""

SaysSomething = Callable[[int], bool]
"""Whether the model of a number says something."""


def further(
    operation: str, forms: Sequence[Form], version: Version, taken: Sequence[int], says_something: SaysSomething
) -> list[int]:
    """The numbers of further models beside those that were taken, of operations whose kernels are known."""
    if operation not in KNOWN:
        return []
    before = [found for number in taken if (found := _asked(operation, forms, version, number))]
    pool = {
        number: found
        for number in range(BLOCKS, BLOCKS + _POOL)
        if (found := _asked(operation, forms, version, number))
    }
    conditions = [set(one) for one in KNOWN.get(operation, ()) if not any(set(one) <= met.keys() for met, _ in before)]
    choice = _Choice([met for met, _ in before], pool, conditions)
    return list(itertools.islice(choice.in_order(says_something), max(round(SHARE * len(taken)), len(conditions))))


def _asked(operation: str, forms: Sequence[Form], version: Version, number: int) -> tuple[Asked, int] | None:
    """What a model meets, and its work; nothing where it is unfit."""
    try:
        vector = numbered(forms, operation, number, version)
    except Unfit:
        return None
    return asked(vector), work(vector)


class _Choice:
    """Which triples no chosen model meets yet."""

    def __init__(
        self, before: Sequence[Asked], pool: Mapping[int, tuple[Asked, int]], conditions: list[set[str]]
    ) -> None:
        self._numbers, self._conditions = list(pool), conditions
        self._met = [met for met, _ in pool.values()]
        subjects = {name: subject for met in (*before, *self._met) for name, subject in met.items()}
        names = sorted(subjects)
        self._index = {name: place for place, name in enumerate(names)}
        told = numpy.array([subjects[name] for name in names])
        apart = told[:, None] != told[None, :]
        self._open = apart[:, :, None] & apart[:, None, :] & apart[None, :, :]
        self._costs = numpy.array([1 + one / _COST for _, one in pool.values()])
        for met in before:
            self._close(met)

    def in_order(self, says_something: SaysSomething) -> Iterator[int]:
        """The numbers of those that say something, the one that meets most that is open first."""
        # What a model is worth only falls: one that is still worth what it was is the best.
        left = [(-self._value(place), place) for place in range(len(self._met))]
        heapq.heapify(left)
        while left:
            before, best = heapq.heappop(left)
            if (worth := self._value(best)) < -before:
                heapq.heappush(left, (-worth, best))
            elif worth and says_something(self._numbers[best]):
                self._close(self._met[best])
                self._conditions = [one for one in self._conditions if not one <= self._met[best].keys()]
                yield self._numbers[best]

    def _value(self, place: int) -> float:
        met = self._met[place]
        known = sum(one <= met.keys() for one in self._conditions)
        return float((int(self._open[self._cube(met)].sum()) + _KNOWN * known) / self._costs[place])

    def _close(self, met: Asked) -> None:
        self._open[self._cube(met)] = False

    def _cube(self, met: Asked) -> tuple[Array, ...]:
        places = numpy.array([self._index[name] for name in met])
        return numpy.ix_(places, places, places)
