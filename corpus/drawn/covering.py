"""Decisions that spread: what has been decided least so far, by itself and beside the decisions before it.

A driver chooses its kernels by a property or by two at once, so models that are drawn together should differ in all of
them, pairwise. Nothing is enumerated: as a model is made, each decision takes the value that is new most often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.strategies.calls import Item

if TYPE_CHECKING:
    from npu_conformance.corpus.random_graphs.dice import Dice

_FEW_VALUES, _INSIDE = 8, 2
"""A decision of more values, such as the number of a row, is one of both ends, or one of so many inside."""
_MOST_ALIKE = 4
"""So many decisions of a name are spread, those behind them left to the dice: such as the scales of channels."""
_ALONE = 4.0
"""How much more a value counts that is new by itself than one that is new beside another."""

Taken = tuple[str, int]
"""A decision, by its name, and the value that it took."""


class History:
    """How often the models before took a value, and two values together."""

    def __init__(self) -> None:
        self._alone: Counter[Taken] = Counter()
        self._pairs: Counter[tuple[Taken, Taken]] = Counter()

    def newness(self, one: Taken, before: Sequence[Taken]) -> float:
        """Large for a value that was taken seldom, by itself or with those before it."""
        pairs = sum(1 / (1 + self._pairs[other, one]) for other in before)
        return _ALONE * (1 + len(before) / 4) / (1 + self._alone[one]) + pairs

    def add(self, taken: Sequence[Taken]) -> None:
        """Count the decisions of a model."""
        self._alone.update(taken)
        self._pairs.update((other, one) for position, one in enumerate(taken) for other in taken[:position])


class Covering:
    """The decisions of one model; of equally new values the dice take one."""

    def __init__(self, history: History, dice: Dice) -> None:
        self._history, self._dice = history, dice
        self.taken: list[Taken] = []
        self._named: Counter[str] = Counter()

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, of many numbers rather an end. Equal limits have their order for a name."""
        if limit <= _FEW_VALUES:
            return self.named(f"below {limit}", limit)
        return (0, limit - 1, *(self._dice.below(limit) for _ in range(_INSIDE)))[self.named("end", 2 + _INSIDE)]

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def named(self, name: str, limit: int) -> int:
        """A number from 0 to limit - 1 for a decision of this name; the second of a name is another decision."""
        self._named[name] += 1
        if limit <= 1 or self._named[name] > _MOST_ALIKE:
            return self._dice.below(limit)
        name = f"{name} {self._named[name]}"
        start = self._dice.below(limit)
        values = [(start + step) % limit for step in range(limit)]
        value = max(values, key=lambda one: self._history.newness((name, one), self.taken))
        self.taken.append((name, value))
        return value
