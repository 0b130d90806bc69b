"""The generator of FLOOR."""

import math

from npu_conformance.corpus.generators import _activations, _rejections, _unary
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8


def vectors() -> Vectors:
    """Both types and every rank, both signs, just below an integer, numbers without a fraction, infinities, -0."""
    yield from _unary.floats("FLOOR", -4.0, 4.0, rank5=False, excluded=("relaxed",))
    yield from _activations.special("FLOOR", [0.0, -0.0, math.inf, -math.inf, math.nan, -0.5, 0.5, -2.0, 2048.0])
    yield from _edges()
    yield from _rejections.unary("FLOOR", ranks="C1", outputs="C3")
    yield from _unary.rejections("FLOOR", others=[INT32, QUANT8], outputs="")


def _edges() -> Vectors:
    """Neighbours of integers and numbers beyond any fraction."""
    for name, kind, values in (
        ("float32_edges", FLOAT32, [2.9999998, 3.0, -2.0000002, 8388607.5, -8388607.5, 16777217.0, 1e30, -1e30]),
        ("float16_edges", FLOAT16, [2.998, 3.0, -2.002, 1023.5, -1023.5, 2049.0, 65504.0, -65504.0]),
    ):
        yield positive(
            name,
            "FLOOR",
            {"input": tensor(kind, (8,), values)},
            {"output": tensor(kind, (8,))},
            description="just below and above an integer; numbers that have no fraction, nor fit into int32",
            excluded=["relaxed", INTERNAL],
        )
