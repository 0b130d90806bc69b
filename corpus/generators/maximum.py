"""The plan of MAXIMUM."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _extrema, _rejections
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every type and way of broadcasting, operands quantised apart, infinities, rank 5."""
    yield from _extrema.vectors("MAXIMUM")
    yield from _rejections.binary("MAXIMUM", activation=False, mismatch="C1", outputs="C3")
    yield _rejections.mixed_types("MAXIMUM", activation=False)
