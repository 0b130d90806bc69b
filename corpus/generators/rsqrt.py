"""The generator of RSQRT."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, Shape
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import INT32, QUANT8, SIGNED


def vectors() -> Vectors:
    """Every type and rank; infinity. Results for zero and below are not specified: what is quantised stays above."""
    yield from _unary.floats("RSQRT", 0.125, 8.0)
    yield from _activations.special("RSQRT", [1.0, math.inf, 4.0, 0.0625, 65504.0])
    yield _unary.small("RSQRT")
    yield _unary.tiny("RSQRT")
    yield from _unary.undefined("RSQRT", [0.0, -0.0, -1.0, math.nan, -math.inf])
    yield from _every_byte()
    yield from _quantized_ranks()
    yield from _unary.rejections("RSQRT", others=[INT32], outputs="C2")
    yield _unary.too_early("RSQRT", QUANT8, "fl6")
    yield _unary.too_early("RSQRT", SIGNED, "fl6")


_QUANTIZATIONS = {
    "whole_range": ((0.02, 0), (0.03, 0)),
    "zero_points": ((0.5, 55), (0.01, 120)),
    "saturating": ((0.01, 0), (0.02, 30)),
    "coarse_output": ((0.125, 100), (0.5, 10)),
}
"""Scale and (unsigned) zero point of input and output."""


def _every_byte() -> Vectors:
    """All stored values above the zero point: 1 / sqrt(x) of others is not defined."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for name, ((scale, point), (out_scale, out_point)) in _QUANTIZATIONS.items():
            shape = (5, (255 - point) // 5)
            data = [(position * 37) % (255 - point) + point + 1 - shift for position in range(255 - point)]
            yield positive(
                f"{SHORT[kind]}_every_value_{name}",
                "RSQRT",
                {"input": tensor(kind, shape, data, scale=scale, zero_point=point - shift)},
                {"output": tensor(kind, shape, scale=out_scale, zero_point=out_point - shift)},
                description=f"scale {scale} to {out_scale}, zero point {point - shift} to {out_point - shift}",
                excluded=[INTERNAL],
            )
    inputs = {"input": tensor(QUANT8, (3, 4), integers(71, (3, 4), 12, 255))}
    outputs = {"output": tensor(QUANT8, (3, 4))}
    yield from shared_quantization("RSQRT", inputs, outputs, (0.02, 0.015), (3, 10), excluded=[INTERNAL])


def _quantized_ranks() -> Vectors:
    shapes: tuple[Shape, ...] = (RANKS[0], RANKS[2], RANKS[3], (2, 1, 3, 1, 2))
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for seed, shape in enumerate(shapes):
            yield positive(
                f"{SHORT[kind]}_rank{len(shape)}",
                "RSQRT",
                {
                    "input": tensor(
                        kind, shape, integers(seed, shape, 21, 255) - shift, scale=0.1, zero_point=20 - shift
                    )
                },
                {"output": tensor(kind, shape, scale=0.0125, zero_point=5 - shift)},
                excluded=[INTERNAL],
            )
