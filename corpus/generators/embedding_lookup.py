"""The generator of EMBEDDING_LOOKUP."""

from collections.abc import Sequence

from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._moves import (
    FAR,
    FIVE,
    bytes_at_load,
    late,
    opened,
    result,
    source,
    special_floats,
    unknown,
)
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import OperandSpec, constant, int32s
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "EMBEDDING_LOOKUP"
CASES: dict[str, tuple[tuple[int, ...], Sequence[int]]] = {
    "rank2": ((3, 2), (1, 0, 2)),
    "one_lookup": ((3, 2), (2,)),
    "repeated": ((4, 3), (3, 3, 0, 3)),
    "more_lookups_than_rows": ((2, 2), (0, 1, 1, 0, 1)),
    "one_row": ((1, 4), (0, 0)),
    "one_column": ((5, 1), (4, 2, 0)),
    "rank3": ((3, 2, 2), (2, 0)),
    "rank4": ((3, 1, 2, 2), (1, 2, 1)),
    "rank5": ((2, 1, 2, 1, 2), (1, 0, 1)),
}
"""Dimensions of the values, lookups."""


def vectors() -> Vectors:
    """Every type; ranks of the values; lookups with the request and constant; zero points; open shapes; rejections."""
    for kind in FIVE:
        for turn, (name, (dimensions, lookups)) in enumerate(CASES.items()):
            indices = int32s(*lookups) if turn % 3 == 2 else late(int32s(*lookups))
            output = result(kind, (len(lookups), *dimensions[1:]))
            yield _positive(f"{kind}_{name}", indices, source(kind, dimensions), output)
    yield from many_results("EMBEDDING_LOOKUP")
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            point = {"zero_point": zero_point}
            values = source(kind, (3, 2), **point)
            yield _positive(f"{kind}_zero_point_{zero_point}", int32s(2, 0), values, result(kind, (2, 2), **point))
    for kind in ("float32", "float16"):
        yield _positive(f"{kind}_special_values", int32s(1, 0), special_floats(kind, (2, 3)), result(kind, (2, 3)))
    inputs = {"lookups": unknown(late(int32s(2, 0, 1)), (0,)), "values": source("float32", (3, 2))}
    yield from opened(OPERATION, inputs, (3, 2), "1.0", hazards=["lookup-misses"], key="values")
    for bits, rows, lookups in ((8, 300, (299, 256, 255, 43)), (16, FAR, (FAR - 1, 65536, 65535, 4464))):
        name, values = f"quant8_lookups_need_more_than_{bits}_bits", bytes_at_load((rows, 2))
        yield _positive(name, int32s(*lookups), values, result("quant8", (4, 2)))
    yield _positive("float32_vocabulary", int32s(41, 7, 0), source("float32", (42, 5)), result("float32", (3, 5)))
    yield from _rejected()


def _rejected() -> Vectors:
    values, output = source("float32", (3, 4)), result("float32", (2, 4))
    yield _rejection("values_rank_1", "C2", int32s(2, 0), source("float32", (3,)), result("float32", (2,)))
    for name, index in {"3": 3, "minus_1": -1, "far_beyond": 2**31 - 1}.items():
        wrong = int32s(2, index)
        yield _rejection(f"lookup_{name}", "C3", wrong, values, output)
        yield _rejection(f"lookup_{name}_with_the_request", "C3", late(wrong), values, output)
    square = constant(INT32, (1, 2), (2, 0))
    yield _rejection("lookups_rank_2", RANK_CLAUSE, square, values, output)
    yield _rejection(
        "lookups_rank_2_at_execution", "C1", unknown(late(square), ()), values, result("float32", ()), "1.2"
    )
    for name, shape in {"too_many_rows": (3, 4), "too_wide": (2, 5), "of_higher_rank": (1, 2, 4)}.items():
        yield _rejection(f"output_{name}", "C5", int32s(2, 0), values, result("float32", shape))
    for kind in ("quant8", "quant8_signed"):
        bytes_ = source(kind, (3, 4))
        for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
            other = result(kind, (2, 4), scale=scale, zero_point=zero_point)
            yield _rejection(f"{kind}_output_{name}", "C6", int32s(2, 0), bytes_, other, "1.2")


def _positive(name: str, lookups: OperandSpec, values: OperandSpec, output: OperandSpec) -> Vector:
    return positive(
        name, OPERATION, {"lookups": lookups, "values": values}, {"output": output}, hazards=["lookup-misses"]
    )


def _rejection(
    name: str, clause: str, lookups: OperandSpec, values: OperandSpec, output: OperandSpec, since: str = "1.0"
) -> Vector:
    inputs = {"lookups": lookups, "values": values}
    return rejection(OPERATION, name, clause, inputs, {"output": output}, since)
