"""The generator of SQRT."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.types import INT32, QUANT8


def vectors() -> Vectors:
    """Both types and every rank; exact squares, zeros of either sign, infinity."""
    yield from _unary.floats("SQRT", 0.0, 16.0)
    yield from _activations.special("SQRT", [0.0, -0.0, math.inf, 65504.0, 0.25, 9.0, 1.0])
    yield _unary.small("SQRT")
    yield _unary.tiny("SQRT")
    yield from _unary.undefined("SQRT", [-1.0, math.nan, -math.inf, -65504.0])
    yield from _unary.rejections("SQRT", others=[INT32, QUANT8], outputs="C2")
