"""The generator of PAD."""

import numpy

from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FOUR,
    rejected_outputs,
    rejected_ranks,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

CASES: dict[str, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]] = {
    "rank1": ((3,), ((1, 2),)),
    "rank1_before": ((3,), ((2, 0),)),
    "rank2": ((2, 3), ((0, 2), (1, 0))),
    "rank3": ((2, 1, 3), ((1, 0), (2, 3), (0, 1))),
    "rank4_spatial": ((1, 2, 3, 2), ((0, 0), (1, 2), (3, 0), (0, 0))),
    "rank4_every_axis": ((2, 1, 2, 3), ((1, 0), (0, 1), (2, 1), (1, 2))),
    "rank4_none": ((2, 1, 2, 3), ((0, 0), (0, 0), (0, 0), (0, 0))),
}
"""Dimensions, and how many elements before and after on each axis."""


def paddings(pairs: tuple[tuple[int, int], ...]) -> OperandSpec:
    """The constant paddings operand [rank, 2]."""
    return constant(INT32, (len(pairs), 2), pairs)


def padded(dimensions: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Dimensions of the output."""
    return tuple(before + size + after for size, (before, after) in zip(dimensions, pairs, strict=True))


def vectors() -> Vectors:
    """Every type and rank, heads and tails different; zero points at both ends, 0 before version 1.2; rejections."""
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (4,)), "paddings": paddings(((1, 1),))}
        yield positive(f"{kind}_negative_zeros", "PAD", inputs, {"output": result(kind, (6,))}, since="1.1")
    for kind in FOUR:
        for name, (dimensions, pairs) in CASES.items():
            yield _positive(f"{kind}_{name}", kind, dimensions, pairs, zero_point=9)
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 128, 255):
            yield _positive(f"{kind}_zero_point_{zero_point}", kind, *CASES["rank2"], zero_point=zero_point)
    yield from rejected_paddings("PAD", {}, ("C6", "C7"), "1.1")
    inputs = {"input": source("quant8", (2, 3), zero_point=9), "paddings": paddings(((0, 2), (1, 0)))}
    outputs = {"output": result("quant8", (4, 4), zero_point=9)}
    yield rejection("PAD", "zero_point_before_1_2", "C4", inputs, outputs, "1.1", "1.1")
    yield from long_axes("PAD")
    yield from large_steps("PAD")


def rejected_paddings(operation: str, extra: Operands, clauses: tuple[str, str], since: str) -> Vectors:
    """The rejections that PAD and PAD_V2 share. extra: further inputs. clauses: about dimensions and quantisation."""
    yield from rejected_ranks(operation, {"paddings": paddings(((0, 0),) * 5), **extra}, since)
    floats = {"input": source("float32", (2, 3))}
    wrong = {"rows": (3, 2), "columns": (2, 3), "rank": (4,)}
    for name, shape in wrong.items():
        inputs = {**floats, "paddings": constant(INT32, shape, numpy.ones(shape)), **extra}
        yield rejection(
            operation,
            f"paddings_{name}",
            "C2" if len(shape) == 2 else RANK_CLAUSE,
            inputs,
            {"output": result("float32", (4, 5))},
            since,
        )
    for name, pairs in {"before": ((-1, 2), (1, 0)), "after": ((0, 0), (1, -2))}.items():
        inputs = {**floats, "paddings": paddings(pairs), **extra}
        outputs = {"output": result("float32", padded((2, 3), pairs))}
        yield rejection(operation, f"negative_{name}", "C3", inputs, outputs, since)
    pairs = ((0, 2), (1, 0))
    yield from rejected_outputs(operation, {"paddings": paddings(pairs), **extra}, (2, 3), (4, 4), clauses, since)


def _positive(
    name: str, kind: str, dimensions: tuple[int, ...], pairs: tuple[tuple[int, int], ...], zero_point: int
) -> Vector:
    needs_zero_point = kind == "quant8" and zero_point != 0
    return positive(
        name,
        "PAD",
        {"input": source(kind, dimensions, zero_point=zero_point), "paddings": paddings(pairs)},
        {"output": result(kind, padded(dimensions, pairs), zero_point=zero_point)},
        since="1.2" if needs_zero_point else "1.1",
        hazards=["pad-raw-zero"],
    )
