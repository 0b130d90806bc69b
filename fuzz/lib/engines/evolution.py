"""Guided search: inputs that show something new are kept and changed again, those with rare features more often."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target

_CANDIDATES = 4
"""Of so many kept inputs the one with the rarest feature is changed next."""
_MOST_MUTATIONS = 2
_PLAIN = 0.4
"""How often an input is taken that nothing has changed: most defects are one step away from what is valid."""
_FRESH = 0.2
"""How often one of the latest inputs is taken: what was just reached is where the next step begins."""
_LATEST = 16


class Features(Protocol):
    """What an attack tells: everything that the input showed, as numbers."""

    def __call__(self, data: bytes) -> frozenset[int]:
        """Run one input."""
        ...


@dataclass(frozen=True, slots=True)
class _Entry:
    data: bytes
    features: frozenset[int]


def search(
    target: Target,
    attack: Features,
    *,
    seed: int,
    inputs: Sequence[bytes] = (),
    shown: Sequence[Collection[int]] = (),
    seeds_run: int = 0,
    runs: int | None = None,
    seconds: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Attack until the runs or seconds are used up: first every input as it is, and changed, then on from there.

    shown, seeds_run: see RoundJob. Inputs of which it is known what they show, and seeds that were run, are not run
    as they are: to do so in each round would leave a slow fuzzer no time for anything else.
    """
    ends = clock() + seconds if seconds is not None else float("inf")
    population = _Population(random.Random(seed), runs, lambda: clock() >= ends)
    known = dict(zip(inputs, shown, strict=True)) if shown else {}
    unknown = [data for data in inputs if not known.get(data)]
    population.remember({data: features for data, features in known.items() if features})
    population.begin(target, attack, inputs, [*unknown, *target.seeds[seeds_run:]])
    population.evolve(target, attack)


class _Population:
    def __init__(self, source: random.Random, runs: int | None, is_late: Callable[[], bool]) -> None:
        self._source = source
        self._left = float("inf") if runs is None else runs
        self._is_late = is_late
        self._entries: list[_Entry] = []
        self._pool: list[bytes] = []
        self._seeds: tuple[bytes, ...] = ()
        self._counts: Counter[int] = Counter()

    def remember(self, known: Mapping[bytes, Collection[int]]) -> None:
        """Take inputs, with what they show, as if they had been run."""
        for data, features in known.items():
            self._counts.update(features)
            self._entries.append(_Entry(data, frozenset(features)))

    def begin(self, target: Target, attack: Features, inputs: Sequence[bytes], fresh: Sequence[bytes]) -> None:
        """Run what is fresh; every input may be joined with others, whether it shows something new or not."""
        self._seeds = tuple(target.seeds) or tuple(inputs)
        self._pool = [*inputs, *target.seeds]
        target.seeds = self._pool
        for data in fresh:
            for tried in (data, self._changed(target, data)):
                if self._is_over():
                    return
                self._try(attack, tried)

    def evolve(self, target: Target, attack: Features) -> None:
        """Change kept inputs until the end."""
        while not self._is_over():
            data = self._changed(target, self._parent())
            if self._try(attack, data):
                self._pool.append(data)

    def _changed(self, target: Target, data: bytes) -> bytes:
        for _ in range(1 + self._source.randrange(_MOST_MUTATIONS)):
            data = target.mutate(data, Choices(self._source.randbytes(SIZE)), LARGEST_INPUT)
        return data

    def _is_over(self) -> bool:
        return self._left <= 0 or self._is_late()

    def _try(self, attack: Features, data: bytes) -> bool:
        self._left -= 1
        features = attack(data)
        is_new = any(feature not in self._counts for feature in features)
        self._counts.update(features)
        if is_new:
            self._entries.append(_Entry(data, features))
        return is_new

    def _parent(self) -> bytes:
        chance = self._source.random()
        if not self._entries or chance < _PLAIN:
            return self._source.choice(self._seeds)
        if chance < _PLAIN + _FRESH:
            return self._source.choice(self._entries[-_LATEST:]).data
        candidates = [self._source.choice(self._entries) for _ in range(_CANDIDATES)]
        return min(candidates, key=self._rarest).data

    def _rarest(self, entry: _Entry) -> int:
        return min((self._counts[feature] for feature in entry.features), default=0)
