"""The generator of SIN."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.types import INT32, QUANT8


def vectors() -> Vectors:
    """Both types and every rank, over nearly two periods; zeros. Great arguments are ill-conditioned."""
    yield from _unary.floats("SIN", -6.0, 6.0)
    yield from _activations.special("SIN", [0.0, -0.0, 1.5, -1.5, 3.140625, 1.570796, -4.7123])
    yield from _unary.undefined("SIN", [math.inf, -math.inf, math.nan, 65504.0])
    yield _activations.tiny("SIN")
    yield from _unary.rejections("SIN", others=[INT32, QUANT8], outputs="C2")
