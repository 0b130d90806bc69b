"""The generator of REDUCE_ALL."""

from npu_conformance.corpus.generators import _reduced_truths
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """See _reduced_truths."""
    yield from _reduced_truths.vectors("REDUCE_ALL")
