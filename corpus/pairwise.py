"""Few rows of a table in which every pair of values of two columns occurs: deterministic, by greedy choice."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])


def pairwise(parameters: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Few combinations in which every pair of values of two parameters occurs."""
    values = {name: list(choices) for name, choices in parameters.items()}
    names = list(values)
    if len(names) == 1:
        return [{names[0]: choice} for choice in values[names[0]]]
    everything = list(itertools.product(*(range(len(values[name])) for name in names)))
    return [
        {name: values[name][position] for name, position in zip(names, row, strict=True)} for row in cover(everything)
    ]


def cover(rows: Sequence[Row]) -> list[Row]:
    """Few of the rows, which have two columns at least, with every pair of values that occurs in any of them."""
    bits: dict[tuple[int, Any, int, Any], int] = {}
    masks = [sum(1 << bits.setdefault(pair, len(bits)) for pair in _pairs(row)) for row in rows]
    missing, chosen = (1 << len(bits)) - 1, []
    while missing:
        best = max(range(len(rows)), key=lambda index: (masks[index] & missing).bit_count())
        missing &= ~masks[best]
        chosen.append(rows[best])
    return chosen


def _pairs(row: tuple[Any, ...]) -> list[tuple[int, Any, int, Any]]:
    return [(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(row)), 2)]
