"""The generator of MINIMUM."""

from npu_conformance.corpus.generators import _extrema, _rejections
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every type and way of broadcasting, operands quantised apart, infinities, rank 5."""
    yield from _extrema.vectors("MINIMUM")
    yield from _rejections.binary("MINIMUM", activation=False, mismatch="C1", outputs="C3")
    yield _rejections.mixed_types("MINIMUM", activation=False)
