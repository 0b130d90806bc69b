"""The generator of RANDOM_MULTINOMIAL: how often each class is drawn; where one class is certain, every sample."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._moves import KINDS, late, unknown
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejection
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Data, OperandSpec, constant, int32, int32s, tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "RANDOM_MULTINOMIAL"
TOLERANCE = 0.025
DRAWS = 25_000
CERTAIN = 60.0
"""So far above the others that no draw of a lifetime gives another class."""

ROWS: dict[str, Sequence[Sequence[float]]] = {
    "two_classes": ((0.0, log(3.0)),),
    "falling": ((0.0, -1.0, -2.0, -3.0, -4.0),),
    "rising": ((-2.0, -1.0, 0.0, 1.0),),
    "last_class_most": ((0.0, 0.5, 0.25, 2.5),),
    "equal": ((2.0, 2.0, 2.0, 2.0, 2.0),),
    "two_rows": ((2.0, 0.0, 1.0), (0.0, 2.0, -1.0)),
    "three_rows": ((1.0, 0.0), (0.0, 1.0), (0.0, 3.0)),
    "large": ((1000.0, 999.0, 998.0),),
    "far_below_zero": ((-1000.0, -1001.0, -999.5),),
    "far_apart": ((-500.0, 20.0, 19.0, -20.0),),
    "minus_infinity": ((1.0, -inf, 0.0, 1.0),),
    "rows_far_apart": ((0.0, 1.0, 2.0), (1000.0, 1000.0, 999.0), (-1000.0, -999.0, -1000.0)),
}


def vectors() -> Vectors:
    """Distributions in both types; certain classes; seeds; open shapes; rejections."""
    for kind in ("float32", "float16"):
        for name, rows in ROWS.items():
            yield _positive(f"{kind}_{name}", _logits(kind, rows), DRAWS, int32s(37, 42))
        peaks = numpy.eye(4)[[2, 0, 3, 1]] * CERTAIN
        yield _positive(f"{kind}_certain_classes", _logits(kind, peaks), 3, int32s(5, 6))
        yield _positive(f"{kind}_one_sample", _logits(kind, peaks[:3]), 1, int32s(1, 2))
        yield _positive(f"{kind}_one_class", _logits(kind, [[-3.0]]), 2, int32s(1, 2))
    logits = _logits("float32", ROWS["two_rows"])
    for name, seeds in {"0_1": (0, 1), "1_0": (1, 0), "negative": (-1, -(2**31)), "largest": (2**31 - 1,) * 2}.items():
        yield _positive(f"float32_seeds_{name}", logits, DRAWS, int32s(*seeds))
    yield _positive("float32_all_late", logits, DRAWS, late(int32s(3, 4)))
    yield _positive("float32_constant_logits", replace(logits, constant=True), DRAWS, late(int32s(3, 4)))
    peaked = dyadic(4, (2, 500), -2.0, 2.0)
    peaked[0, 499] = peaked[1, 250] = CERTAIN
    yield _positive("float32_vocabulary", _logits("float32", peaked), 8, int32s(7, 8))
    yield from _opened(logits)
    yield from _rejected(logits)


def _opened(logits: OperandSpec) -> Vectors:
    seeds = late(int32s(9, 10))
    yield _positive("float32_unknown_size", unknown(logits, (0, 3)), DRAWS, seeds)
    yield _positive("float32_unknown_sizes", unknown(logits, (0, 0)), DRAWS, unknown(seeds, (0,)))
    yield _positive("float32_unknown_rank", unknown(logits, ()), DRAWS, unknown(seeds, ()))
    yield _positive("float32_unknown_everything", unknown(logits, ()), DRAWS, unknown(seeds, ()), ())


def _rejected(logits: OperandSpec) -> Vectors:
    seeds = int32s(1, 2)
    for name, dimensions in {"1": (6,), "3": (1, 2, 3)}.items():
        wrong = tensor(FLOAT32, dimensions, dyadic(1, dimensions))
        yield _rejection(f"logits_rank_{name}", RANK_CLAUSE, wrong, 4, seeds)
        yield _rejection(f"logits_rank_{name}_at_execution", "C1", unknown(wrong, ()), 4, seeds, ())
    square = constant(INT32, (2, 1), (1, 2))
    yield _rejection("seeds_rank_2", RANK_CLAUSE, logits, 4, square)
    yield _rejection("seeds_rank_2_at_execution", "C1", logits, 4, unknown(late(square), ()))
    for name, count in {"minus_1": -1, "far_below_zero": -(2**31)}.items():
        yield _rejection(f"samples_{name}", "C2", logits, count, seeds)
    for name, shape in {"too_many_rows": (3, 4), "too_few_samples": (2, 3), "of_classes": (2, 3)}.items():
        yield _rejection(f"output_{name}", "C5", logits, 4, seeds, shape)
    yield _rejection("output_rank_1", RANK_CLAUSE, logits, 4, seeds, (8,))


def _logits(kind: str, rows: Data) -> OperandSpec:
    values = numpy.asarray(rows)
    return tensor(KINDS[kind], values.shape, values)


def _positive(
    name: str, logits: OperandSpec, count: int, seeds: OperandSpec, output: Sequence[int] | None = None
) -> Vector:
    """Samples that are compared with the distribution. The model does not compute the logits: they must be known."""
    inputs = {"logits": logits, "num_samples": int32(count), "seeds": seeds}
    dimensions = (logits.shape[0], count) if output is None else output
    exact = positive(
        name, OPERATION, inputs, {"samples": tensor(INT32, dimensions)}, since="1.2",
        requirements=("NNHAL-ACCURACY-009",), excluded=(INTERNAL,),
    )  # fmt: skip
    return structs.replace(exact, kind="multinomial", multinomial_tolerance=TOLERANCE)


def _rejection(
    name: str, clause: str, logits: OperandSpec, count: int, seeds: OperandSpec, output: tuple[int, ...] = (2, 4)
) -> Vector:
    inputs = {"logits": logits, "num_samples": int32(count), "seeds": seeds}
    return rejection(OPERATION, name, clause, inputs, {"samples": tensor(INT32, output)}, "1.2")
