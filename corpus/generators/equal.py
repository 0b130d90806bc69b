"""The plan of EQUAL."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _comparisons
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every type and way of broadcasting, operands quantised apart, elements that are equal or nearly so, NaN."""
    yield from _comparisons.vectors("EQUAL")
