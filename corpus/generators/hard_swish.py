"""The generator of HARD_SWISH."""

import math

from npu_conformance.corpus.generators import _activations, _unary
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, Shape, all_bytes, stored_bytes
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import INT32, QUANT8, SIGNED

_QUANTIZATIONS = {
    "usual": ((0.0625, 128), (0.0625, 128)),
    "output_differs": ((0.05, 100), (0.03, 10)),
    "saturating": ((0.1, 128), (0.02, 20)),
    "coarse_output": ((0.02, 30), (0.1, 128)),
    "around_the_bends": ((0.03125, 128), (0.015625, 100)),
    "large_scale": ((10.0, 100), (16.0, 60)),
}
"""Scale and (unsigned) zero point of input and output, which are independent of each other."""


def vectors() -> Vectors:
    """Every type and rank on both sides of -3 and 3; every stored value; outputs quantised otherwise; no elements."""
    yield from _unary.floats("HARD_SWISH", -5.0, 5.0)
    # What -infinity gives, by the formula infinity times 0, is left out; six times the largest value must be finite.
    yield from _activations.special(
        "HARD_SWISH", [0.0, -0.0, 3.0, -3.0, 2.75, -2.75, 6.0, -6.0, 1000.0, -1000.0, math.inf]
    )
    yield _activations.tiny("HARD_SWISH")
    yield from _every_byte()
    yield from _quantized_ranks()
    yield from _activations.without_elements("HARD_SWISH", (0.05, 10))
    yield from _unary.rejections("HARD_SWISH", others=[INT32], outputs="C2")


def _every_byte() -> Vectors:
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for name, ((scale, point), (out_scale, out_point)) in _QUANTIZATIONS.items():
            yield positive(
                f"{SHORT[kind]}_every_value_{name}",
                "HARD_SWISH",
                {"input": tensor(kind, (32, 8), all_bytes(shift), scale=scale, zero_point=point - shift)},
                {"output": tensor(kind, (32, 8), scale=out_scale, zero_point=out_point - shift)},
                description=f"scale {scale} to {out_scale}, zero point {point - shift} to {out_point - shift}",
            )


def _quantized_ranks() -> Vectors:
    shapes: tuple[Shape, ...] = (RANKS[0], RANKS[2], RANKS[3], (2, 1, 3, 1, 2))
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for seed, shape in enumerate(shapes):
            data = stored_bytes(seed, shape, shift)
            yield positive(
                f"{SHORT[kind]}_rank{len(shape)}",
                "HARD_SWISH",
                {"input": tensor(kind, shape, data, scale=0.05, zero_point=120 - shift)},
                {"output": tensor(kind, shape, scale=0.04, zero_point=20 - shift)},
            )
    inputs, outputs = {"input": tensor(QUANT8, (32, 8), all_bytes(0))}, {"output": tensor(QUANT8, (32, 8))}
    yield from shared_quantization("HARD_SWISH", inputs, outputs, (0.05, 0.03), (100, 120))
