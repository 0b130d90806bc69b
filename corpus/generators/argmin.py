"""The generator of ARGMIN."""

from npu_conformance.corpus.generators import _arguments
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """See _arguments."""
    yield from _arguments.vectors("ARGMIN")
