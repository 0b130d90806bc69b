"""The generator of MIRROR_PAD.

By hand: a b c with two elements before and one behind is c b | a b c | b with REFLECT, b a | a b c | c with SYMMETRIC.
"""

import numpy

from npu_conformance.corpus.generators._large_steps import large_steps
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
from npu_conformance.corpus.generators.operands import Operands, constant, int32, tensor
from npu_conformance.corpus.generators.pad import padded, paddings
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "MIRROR_PAD"
MODES = ("reflect", "symmetric")
Pairs = tuple[tuple[int, int], ...]
CASES: dict[str, tuple[tuple[int, ...], Pairs]] = {
    "rank1": ((4,), ((2, 1),)),
    "rank1_most": ((3,), ((2, 2),)),
    "rank2": ((3, 4), ((1, 2), (3, 0))),
    "rank3": ((2, 2, 3), ((1, 0), (0, 1), (1, 2))),
    "rank4_spatial": ((1, 3, 2, 2), ((0, 0), (1, 2), (1, 1), (0, 0))),
    "rank4_none": ((2, 1, 2, 2), ((0, 0), (0, 0), (0, 0), (0, 0))),
    "rank5": ((1, 2, 1, 2, 2), ((0, 0), (1, 1), (0, 0), (0, 1), (1, 0))),
}
"""Dimensions, and how many elements before and after on each axis, within the limits of both modes."""
BORDER_TWICE: dict[str, tuple[tuple[int, ...], Pairs]] = {
    "rank1_whole": ((3,), ((3, 3),)),
    "rank2_whole": ((2, 3), ((2, 0), (1, 3))),
    "size_one": ((1, 2), ((1, 1), (0, 2))),
}
"""The same where only SYMMETRIC reaches as far."""


def arguments(pairs: Pairs, mode: int) -> Operands:
    """The inputs behind the tensor."""
    return {"paddings": paddings(pairs), "mode": int32(mode)}


def vectors() -> Vectors:
    """Every type, rank and mode, pairwise; the widest paddings; zero points at both ends; open shapes; rejections."""
    for turn, kind in enumerate(FIVE):
        for position, name in enumerate(CASES):
            for mode in (0, 1) if turn == 0 else ((turn + position) % 2,):
                yield _positive(f"{kind}_{name}_{MODES[mode]}", kind, *CASES[name], mode, 3)
        for name, (dimensions, pairs) in BORDER_TWICE.items():
            yield _positive(f"{kind}_{name}_symmetric", kind, dimensions, pairs, 1, 3)
    for kind in ("quant8", "quant8_signed"):
        for zero_point, mode in ((0, 0), (255, 1)):
            yield _positive(f"{kind}_zero_point_{zero_point}", kind, *CASES["rank2"], mode, zero_point)
    for kind in ("float32", "float16"):
        inputs = {"input": special_floats(kind, (4,)), **arguments(((1, 2),), 0)}
        yield positive(f"{kind}_special_values", OPERATION, inputs, {"output": result(kind, (7,))}, since="fl7")
    inputs = {"input": source("float32", (3, 4)), **arguments(((1, 2), (3, 0)), 1)}
    yield from opened(OPERATION, inputs, (6, 7), "fl7")
    late_mode = {"mode": late(int32(0)), "paddings": unknown(late(paddings(((1, 2), (3, 0)))), ())}
    inputs, outputs = {**inputs, **late_mode}, {"output": result("float32", (6, 7))}
    yield positive("float32_arguments_with_the_request", OPERATION, inputs, outputs, since="fl7")
    for mode, expected in enumerate(("30 20 10 20 30 20", "20 10 10 20 30 30")):
        numbers = {"input": tensor(INT32, (3,), [10, 20, 30]), **arguments(((2, 1),), mode)}
        about = f"by hand: 10 20 30 with two elements before and one behind is {expected}"
        outputs = {"output": tensor(INT32, (6,))}
        yield positive(f"int32_by_hand_{MODES[mode]}", OPERATION, numbers, outputs, since="fl7", description=about)
    yield from _rejected()
    yield from long_axes(OPERATION)
    yield from large_steps(OPERATION)


def _rejected() -> Vectors:
    wrong: dict[str, tuple[str, Pairs, int]] = {
        "negative_before": ("C2", ((-1, 1), (0, 0)), 0),
        "negative_behind": ("C2", ((0, 0), (1, -1)), 1),
        "reflect_whole_before": ("C3", ((2, 0), (0, 0)), 0),
        "reflect_whole_behind": ("C3", ((0, 0), (0, 3)), 0),
        "symmetric_more_before": ("C3", ((3, 0), (0, 0)), 1),
        "symmetric_more_behind": ("C3", ((0, 0), (0, 4)), 1),
        "mode_2": ("C4", ((0, 1), (1, 0)), 2),
        "mode_minus_1": ("C4", ((0, 1), (1, 0)), -1),
    }
    for name, (clause, pairs, mode) in wrong.items():
        inputs = {"input": source("float32", (2, 3)), **arguments(pairs, mode)}
        yield rejection(OPERATION, name, clause, inputs, {"output": result("float32", padded((2, 3), pairs))}, "fl7")
    for name, shape in {"rows": (3, 2), "columns": (2, 1), "rank": (4,)}.items():
        clause = "C1" if len(shape) == 2 else RANK_CLAUSE
        zeros = constant(INT32, shape, numpy.zeros(shape))
        inputs = {"input": source("float32", (2, 3)), "paddings": zeros, "mode": int32(0)}
        yield rejection(OPERATION, f"paddings_{name}", clause, inputs, {"output": result("float32", (2, 3))}, "fl7")
    yield from rejected_outputs(OPERATION, arguments(((0, 1), (2, 0)), 0), (2, 3), (3, 5), ("C6", "C7"), "fl7")


def _positive(name: str, kind: str, dimensions: tuple[int, ...], pairs: Pairs, mode: int, zero_point: int) -> Vector:
    return positive(
        name,
        OPERATION,
        {"input": source(kind, dimensions, zero_point=zero_point), **arguments(pairs, mode)},
        {"output": result(kind, padded(dimensions, pairs), zero_point=zero_point)},
        since="fl7",
    )
