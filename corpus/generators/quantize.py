"""The generator of QUANTIZE."""

import math

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise

_QUANTIZATIONS = ((0.5, 0), (0.03, 128), (1.0, 255), (0.0078125, 77))
"""Scales and (unsigned) zero points of the output."""


def vectors() -> Vectors:
    """Both float types to both quantised ones; ranks; halves; saturation at both ends, and of infinities."""
    yield from _ranks()
    yield from _edges()
    yield from many_results("QUANTIZE")
    yield from _zero_sized()
    yield from _rejections.declared("QUANTIZE", FLOAT32, QUANT8, "C2")


def _ranks() -> Vectors:
    shapes = [*RANKS, (2, 1, 2, 1, 3)]
    rows = pairwise(
        {"from": [FLOAT32, FLOAT16], "to": [QUANT8, SIGNED], "shape": shapes, "quantization": list(_QUANTIZATIONS)}
    )
    for seed, row in enumerate(rows):
        scale, point = row["quantization"]
        shift, shape = (128 if row["to"] is SIGNED else 0), row["shape"]
        low, high = (0 - point) * scale, (255 - point) * scale
        yield positive(
            f"{SHORT[row['from']]}_to_{SHORT[row['to']]}_rank{len(shape)}_{_QUANTIZATIONS.index(row['quantization'])}",
            "QUANTIZE",
            {"input": tensor(row["from"], shape, uniform(seed, shape, low - scale, high + scale))},
            {"output": tensor(row["to"], shape, scale=scale, zero_point=point - shift)},
        )


def _edges() -> Vectors:
    """Halves go away from zero before the zero point is added; what is outside saturates."""
    halves = [0.25, 0.75, -0.25, -0.75, 1.25, -1.25, -0.0, 63.75, -64.25, 64.0]
    outside = [1000.0, -1000.0, 68.0, -60.5, 60000.0, -60000.0, 127.5, -127.5, 1.0, -3.5]
    infinite = [math.inf, -math.inf, 2.0, -3.0, math.inf, 0.5, 7.5, -math.inf, 1.0, -3.5]
    for source in (FLOAT32, FLOAT16):
        for target in (QUANT8, SIGNED):
            shift = 128 if target is SIGNED else 0
            for name, values in (("halves", halves), ("saturation", outside), ("infinities", infinite)):
                yield positive(
                    f"{SHORT[source]}_to_{SHORT[target]}_{name}",
                    "QUANTIZE",
                    {"input": tensor(source, (2, 5), values)},
                    {"output": tensor(target, (2, 5), scale=0.5, zero_point=120 - shift)},
                )


def _zero_sized() -> Vectors:
    for source, target in ((FLOAT32, QUANT8), (FLOAT16, SIGNED)):
        yield zero_sized(
            f"{SHORT[source]}_to_{SHORT[target]}_zero_sized",
            "QUANTIZE",
            tensor(source, (0, 2, 2, 3)),
            {"input": None},
            {"output": tensor(target, (0, 2, 2, 3), scale=0.1, zero_point=7)},
            since="1.3" if target is SIGNED else "1.2",
        )
