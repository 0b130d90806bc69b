"""The generator of LESS."""

from npu_conformance.corpus.generators import _comparisons
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every type and way of broadcasting, operands quantised apart, elements that are equal or nearly so, NaN."""
    yield from _comparisons.vectors("LESS")
