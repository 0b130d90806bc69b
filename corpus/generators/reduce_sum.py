"""The generator of REDUCE_SUM."""

import math

from npu_conformance.corpus.generators._reductions import SHORT, cases, numbers, reduction, rejections
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.specs.documents.vectors import GeneratorDocument

_OPERATION = "REDUCE_SUM"


def vectors() -> Vectors:
    """What all reductions have; sums that cancel, sums with an infinity, long sums."""
    yield from cases(_OPERATION, (FLOAT32, FLOAT16), numbers)
    for kind in (FLOAT32, FLOAT16):
        # 128.25 is the largest partial sum, in any order: exact in float16 as well.
        cancelling = [128.0, 0.25, -128.0, -0.125, 1.5, 0.0, -1.5, 0.0]
        source = tensor(kind, (2, 4), cancelling)
        yield reduction(f"{SHORT[kind]}_cancelling", _OPERATION, source, (1,), False)
        infinite = [math.inf, 1.0, -2.0, 3.0, -math.inf, -1.0]
        source = tensor(kind, (3, 2), infinite)
        yield reduction(f"{SHORT[kind]}_infinities", _OPERATION, source, (1,), True, "one infinity decides its sum")
    source = tensor(FLOAT32, (2, 7), uniform(4, (2, 7), 0.5, 2.0))
    yield reduction("float32_all_bits", _OPERATION, source, (0,), False, "float16 inside would round bits away")
    # Every partial sum is a multiple of 1/8 below 2^8: exact even in float16, in any order.
    generator = GeneratorDocument(kind="dyadic", seed=11, low=-0.25, high=0.25, step=0.125)
    source = tensor(FLOAT32, (1, 4, 4, 768), generator)
    yield reduction("float32_long", _OPERATION, source, (3,), False, "rows of 768 elements")
    rows = [60000.0, 40000.0, 0.5, -7.0, 65024.0, 1000.0, 0.25, 2.0, -49984.0, -30000.0, 1.5, 9.0]
    source = tensor(FLOAT32, (3, 4), rows)
    yield reduction(
        "float32_beyond_half", _OPERATION, source, (1,), False, "sums of values that float16 has are too large for it"
    )
    yield from rejections(_OPERATION, FLOAT32, numbers)
