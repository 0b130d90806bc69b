"""The generator of LOGICAL_NOT."""

from npu_conformance.corpus.generators import _logical
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every rank up to 5, every byte, shapes that the model leaves open."""
    yield from _logical.unary("LOGICAL_NOT")
