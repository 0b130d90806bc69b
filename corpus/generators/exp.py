"""The generator of EXP."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32, QUANT8
from npu_conformance.corpus.vectors import Vector


def vectors() -> Vectors:
    """Both types and every rank; overflow, underflow, infinities. Arguments that are rounded stay small."""
    yield from _unary.floats("EXP", -4.0, 4.0, excluded=(INTERNAL,))
    yield from _activations.special("EXP", [0.0, -0.0, math.inf, -math.inf, 100.0, -200.0, 1.0])
    yield from _unary.undefined("EXP", [math.nan])
    yield _activations.tiny("EXP")
    yield _large()
    yield from _unary.rejections("EXP", others=[INT32, QUANT8], outputs="C2")


def _large() -> Vector:
    """Arguments that are exact, so that the rule for results is all that counts; no result is subnormal."""
    arguments = [12.0, 23.0, 24.5, 34.5, 40.25, 46.0, 52.5, 57.75, 63.0, 69.0, 80.0, -12.0, -80.0]
    shape = (len(arguments),)
    return positive(
        "float32_large_arguments",
        "EXP",
        {"input": tensor(FLOAT32, shape, arguments)},
        {"output": tensor(FLOAT32, shape)},
        description="results up to 5e34",
        excluded=["float16", "relaxed"],
    )
