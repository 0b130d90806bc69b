"""Compares the ratios of a run with those that are stored, so that speed is not lost in small steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.figures import Figure

BASELINE = Path(__file__).parent / "baseline.json"
TOLERATED = 1.25
"""A ratio that has grown by more is a loss: a quarter is more than a fairly quiet machine disturbs them."""


def stored() -> dict[str, float]:
    """The ratios that were kept, by name."""
    found: dict[str, float] = json.loads(BASELINE.read_text())
    return found


def store(figures: Iterable[Figure]) -> None:
    """Keep the ratios of a run, for later ones."""
    BASELINE.write_text(json.dumps({one.name: round(one.value, 2) for one in figures}, indent=1) + "\n")


def judged(figures: Iterable[Figure], baseline: Mapping[str, float]) -> Iterator[Figure]:
    """The figures with what is tolerated as their aim. Raises KeyError for one that is not stored."""
    for one in figures:
        before = baseline[one.name]
        yield replace(one, aim=round(before * TOLERATED, 2), compared=f"{before:g} x before; {one.compared}")
