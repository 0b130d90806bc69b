"""The plan of LOGICAL_OR."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _logical
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every pair of truth values, every way of broadcasting, bytes other than 0 and 1."""
    yield from _logical.binary("LOGICAL_OR")
