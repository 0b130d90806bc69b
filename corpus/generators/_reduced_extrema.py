"""Vectors that REDUCE_MAX and REDUCE_MIN share."""

import math

from npu_conformance.corpus.generators._reductions import (
    SHORT,
    cases,
    numbers,
    reduction,
    rejected_quantization,
    rejections,
)
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED


def vectors(operation: str) -> Vectors:
    """What all reductions have; slices on one side of zero; infinities beside finite numbers; limits of the types.

    A slice of nothing but the infinity that loses is left out: Android's own implementation starts from the largest
    finite number and gives that.
    """
    sign = 1 if operation == "REDUCE_MIN" else -1
    yield from cases(operation, (FLOAT32, FLOAT16, QUANT8, SIGNED), numbers)
    for kind in (FLOAT32, FLOAT16):
        source = tensor(kind, (2, 3), [sign * value for value in (3.5, 2.0, 7.0, 0.5, 0.25, 9.0)])
        about = "an accumulator that starts at 0 would win"
        yield reduction(
            f"{SHORT[kind]}_far_side_of_zero", operation, source, (1,), False, about, hazard="reduction-start-value"
        )
        infinite = [math.inf, 1.5, -2.0, -math.inf, 4.0, 2.0, math.inf, -3.0, -math.inf]
        source = tensor(kind, (3, 3), infinite)
        yield reduction(f"{SHORT[kind]}_infinities", operation, source, (1,), True, hazard="reduction-start-value")
    source = tensor(FLOAT32, (2, 7), uniform(4, (2, 7)))
    yield reduction("float32_all_bits", operation, source, (0,), False, "float16 inside would round bits away")
    for kind in (QUANT8, SIGNED):
        yield from _stored_limits(operation, kind is SIGNED)
    yield from rejections(operation, FLOAT32, numbers)
    yield from rejected_quantization(operation)


def _stored_limits(operation: str, signed: bool) -> Vectors:
    kind, shift = (SIGNED, 128) if signed else (QUANT8, 0)
    elements = [element - shift for element in (0, 0, 0, 255, 255, 255, 0, 255, 7, 126, 128, 127)]
    source = tensor(kind, (4, 3), elements, scale=0.5, zero_point=200 - shift)
    about = "rows of the lowest, of the highest stored value only, of both, and about the middle"
    yield reduction(f"{SHORT[kind]}_limits", operation, source, (1,), False, about)
