"""The generator of REDUCE_MAX."""

from npu_conformance.corpus.generators import _reduced_extrema
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """See _reduced_extrema."""
    yield from _reduced_extrema.vectors("REDUCE_MAX")
    yield from long_axes("REDUCE_MAX")
