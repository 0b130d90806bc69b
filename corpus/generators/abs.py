"""The generator of ABS."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.types import INT32, QUANT8


def vectors() -> Vectors:
    """Every type and rank, both signs, infinities, zeros of either sign; the limits of int32 but for the lowest."""
    yield from _unary.floats("ABS", -4.0, 4.0)
    yield from _activations.special("ABS", [0.0, -0.0, math.inf, -math.inf, math.nan, -65504.0, 65504.0, -1.5])
    yield _activations.tiny("ABS")
    yield from _unary.int32("ABS")
    yield from _unary.rejections("ABS", others=[QUANT8], outputs="C2")
    yield _unary.too_early("ABS", INT32, "1.2")
