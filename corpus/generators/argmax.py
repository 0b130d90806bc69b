"""The plan of ARGMAX."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _arguments
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """See _arguments."""
    yield from _arguments.vectors("ARGMAX")
