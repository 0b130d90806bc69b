"""The plan of REDUCE_ALL."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _reduced_truths
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """See _reduced_truths."""
    yield from _reduced_truths.vectors("REDUCE_ALL")
