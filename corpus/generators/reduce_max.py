"""The plan of REDUCE_MAX."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _reduced_extrema
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """See _reduced_extrema."""
    yield from _reduced_extrema.vectors("REDUCE_MAX")
