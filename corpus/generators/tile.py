"""The generator of TILE."""

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FIVE,
    late,
    opened,
    rejected_outputs,
    result,
    source,
    special_floats,
    unknown,
)
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import constant, int32s
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "TILE"
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "rank1": ((3,), (3,)),
    "rank2_rows": ((2, 3), (2, 1)),
    "rank2_columns": ((2, 3), (1, 3)),
    "rank2_both": ((2, 3), (3, 2)),
    "rank3": ((2, 1, 3), (1, 4, 2)),
    "rank3_every_axis": ((2, 3, 2), (3, 2, 2)),
    "rank4": ((1, 2, 2, 2), (2, 1, 3, 1)),
    "rank4_every_axis": ((1, 2, 1, 3), (2, 2, 2, 2)),
    "nothing_to_do": ((2, 3), (1, 1)),
    "rank5": ((2, 1, 2, 1, 2), (1, 2, 1, 2, 2)),
}
"""Dimensions, multiples."""


def vectors() -> Vectors:
    """Every type; every rank; zero points at both ends; multiples with the request; open shapes; rejections."""
    for kind in FIVE:
        for name, (dimensions, multiples) in CASES.items():
            yield _positive(f"{kind}_{name}", kind, dimensions, multiples, 3)
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            yield _positive(f"{kind}_zero_point_{zero_point}", kind, (2, 2), (1, 2), zero_point)
    for kind in ("float32", "float16"):
        inputs = {"input": special_floats(kind, (4,)), "multiples": int32s(2)}
        yield positive(f"{kind}_special_values", OPERATION, inputs, {"output": result(kind, (8,))}, since="1.2")
    yield from opened(OPERATION, {"input": source("float32", (2, 3)), "multiples": int32s(2, 3)}, (4, 9), "1.2")
    for name, wrong in {"0": (2, 0), "minus_1": (-1, 2)}.items():
        inputs = {"input": source("float32", (2, 3)), "multiples": int32s(*wrong)}
        yield rejection(OPERATION, f"multiple_{name}", "C3", inputs, {"output": result("float32", ())}, "1.2")
    square = constant(INT32, (1, 2), (1, 2))
    for name, operand, clause in (
        ("multiples_rank_2", square, RANK_CLAUSE),
        ("multiples_rank_2_at_execution", unknown(late(square), ()), "C1"),
    ):
        inputs = {"input": source("float32", (2, 3)), "multiples": operand}
        yield rejection(OPERATION, name, clause, inputs, {"output": result("float32", (2, 6))}, "1.2")
    yield from rejected_outputs(OPERATION, {"multiples": int32s(2, 3)}, (2, 3), (4, 9), ("C5", "C6"), "1.2")
    yield from long_axes(OPERATION)


def _positive(name: str, kind: str, dimensions: tuple[int, ...], multiples: tuple[int, ...], zero_point: int) -> Vector:
    output = [size * times for size, times in zip(dimensions, multiples, strict=True)]
    inputs = {"input": source(kind, dimensions, zero_point=zero_point), "multiples": int32s(*multiples)}
    return positive(name, OPERATION, inputs, {"output": result(kind, output, zero_point=zero_point)}, since="1.2")
