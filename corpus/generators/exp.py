"""The generator of EXP."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import INTERNAL, Vectors
from npu_conformance.corpus.generators.types import INT32, QUANT8


def vectors() -> Vectors:
    """Both types and every rank; overflow, underflow, infinities. Arguments stay small: e^x multiplies their error."""
    yield from _unary.floats("EXP", -4.0, 4.0, excluded=(INTERNAL,))
    yield from _activations.special("EXP", [0.0, -0.0, math.inf, -math.inf, 100.0, -200.0, 1.0])
    yield from _unary.undefined("EXP", [math.nan])
    yield _activations.tiny("EXP")
    yield from _unary.rejections("EXP", others=[INT32, QUANT8], outputs="C2")
