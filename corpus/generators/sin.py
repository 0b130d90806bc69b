"""The generator of SIN."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32, QUANT8
from npu_conformance.corpus.vectors import Vector


def vectors() -> Vectors:
    """Both types and every rank, over nearly two periods; zeros. Great arguments that are rounded say little."""
    yield from _unary.floats("SIN", -6.0, 6.0)
    yield from _activations.special("SIN", [0.0, -0.0, 1.5, -1.5, 3.140625, 1.570796, -4.7123])
    yield from _unary.undefined("SIN", [math.inf, -math.inf, math.nan, 65504.0])
    yield _activations.tiny("SIN")
    yield _large()
    yield from _unary.rejections("SIN", others=[INT32, QUANT8], outputs="C2")


def _large() -> Vector:
    """Exact arguments of up to sixteen turns; how far a device has to go beyond these no document says."""
    arguments = [7.5, -9.25, 12.75, 18.875, -25.125, 31.5, 40.0625, -50.25, 66.0, 88.5, -100.25]
    shape = (len(arguments),)
    return positive(
        "float32_large_arguments",
        "SIN",
        {"input": tensor(FLOAT32, shape, arguments)},
        {"output": tensor(FLOAT32, shape)},
        description="arguments of up to sixteen turns",
        excluded=["float16", "relaxed"],
    )
