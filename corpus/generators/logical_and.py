"""The generator of LOGICAL_AND."""

from npu_conformance.corpus.generators import _logical
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every pair of truth values, every way of broadcasting, bytes other than 0 and 1."""
    yield from _logical.binary("LOGICAL_AND")
