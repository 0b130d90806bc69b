"""The generator of LOG."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.types import INT32, QUANT8


def vectors() -> Vectors:
    """Both types and every rank, on both sides of 1; zero, infinity. Of negative numbers nothing is said."""
    yield from _unary.floats("LOG", 0.125, 8.0)
    yield from _activations.special("LOG", [0.0, 1.0, math.inf, 65504.0, 0.00048828125])
    yield _unary.small("LOG")
    yield _unary.tiny("LOG")
    yield from _unary.undefined("LOG", [-1.0, -0.0, math.nan, -math.inf, -65504.0])
    yield from _unary.rejections("LOG", others=[INT32, QUANT8], outputs="C2")
