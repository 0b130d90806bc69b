"""The plan of LOGICAL_NOT."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _logical
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every rank up to 5, every byte, shapes that the model leaves open."""
    yield from _logical.unary("LOGICAL_NOT")
