"""The generator of REVERSE.

By hand: of the shape [2, 3] and the elements a b c / d e f, axis 0 gives d e f / a b c, axis 1 gives c b a / f e d.
"""

import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FIVE,
    KINDS,
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
from npu_conformance.corpus.generators.operands import constant, int32s, tensor
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "REVERSE"
CASES: dict[str, tuple[tuple[int, ...], int]] = {
    "rank1": ((5,), 0),
    "rank2_axis0": ((3, 2), 0),
    "rank2_axis1": ((2, 3), 1),
    "rank3_axis1": ((2, 3, 4), 1),
    "rank4_axis0": ((2, 1, 3, 2), 0),
    "rank4_axis2": ((1, 2, 3, 2), 2),
    "rank4_axis3": ((2, 2, 1, 4), 3),
    "hypercube_axis1": ((3, 3, 3, 3), 1),
    "size_one": ((3, 1, 2), 1),
    "rank5": ((1, 2, 2, 3, 2), 3),
    "rank8": ((1, 2, 1, 2, 1, 2, 1, 3), 7),
}
"""Dimensions, axis."""
RANK9 = (1, 2, 1, 1, 1, 1, 1, 1, 3)


def vectors() -> Vectors:
    """Every type; every axis of several ranks; zero points at both ends; open shapes; rejections."""
    for kind in FIVE:
        for name, (dimensions, axis) in CASES.items():
            inputs = {"input": source(kind, dimensions), "axis": int32s(axis)}
            yield positive(f"{kind}_{name}", OPERATION, inputs, {"output": result(kind, dimensions)}, since="fl7")
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            inputs = {"input": source(kind, (2, 3), zero_point=zero_point), "axis": int32s(1)}
            outputs = {"output": result(kind, (2, 3), zero_point=zero_point)}
            yield positive(f"{kind}_zero_point_{zero_point}", OPERATION, inputs, outputs, since="fl7")
    for kind in ("float32", "float16"):
        inputs = {"input": special_floats(kind, (2, 3)), "axis": int32s(1)}
        yield positive(f"{kind}_special_values", OPERATION, inputs, {"output": result(kind, (2, 3))}, since="fl7")
    yield from opened(OPERATION, {"input": source("float32", (2, 3)), "axis": int32s(0)}, (2, 3), "fl7")
    inputs = {"input": source("float32", (2, 3)), "axis": unknown(late(int32s(1)), ())}
    outputs = {"output": result("float32", (2, 3))}
    yield positive("float32_axis_with_the_request", OPERATION, inputs, outputs, since="fl7")
    yield _by_hand()
    yield from _rejected()
    yield from long_axes(OPERATION)


def _by_hand() -> Vector:
    inputs = {"input": tensor(INT32, (2, 3), [10, 20, 30, 40, 50, 60]), "axis": int32s(1)}
    about = "by hand: each row 10 20 30 and 40 50 60 backwards"
    return positive(
        "int32_by_hand", OPERATION, inputs, {"output": tensor(INT32, (2, 3))}, since="fl7", description=about
    )


def _rejected() -> Vectors:
    floats, output = source("float32", (2, 3)), {"output": result("float32", (2, 3))}
    for name, axes in {"2": (2,), "minus_1": (-1,), "minus_2": (-2,)}.items():
        yield rejection(OPERATION, f"axis_{name}", "C3", {"input": floats, "axis": int32s(*axes)}, output, "fl7")
    yield rejection(OPERATION, "two_axes", "C2", {"input": floats, "axis": int32s(0, 1)}, output, "fl7")
    square = {"input": floats, "axis": constant(INT32, (1, 1), [0])}
    yield rejection(OPERATION, "axis_rank_2", RANK_CLAUSE, square, output, "fl7")
    elements = numpy.arange(6) * 0.25
    for name, dimensions, clause in (("rank9", RANK9, RANK_CLAUSE), ("rank9_at_execution", (), "C1")):
        inputs = {"input": tensor(KINDS["float32"], dimensions, elements, shape=RANK9), "axis": int32s(1)}
        yield rejection(OPERATION, name, clause, inputs, {"output": result("float32", dimensions)}, "fl7")
    yield from rejected_outputs(OPERATION, {"axis": int32s(0)}, (2, 3), (2, 3), ("C5", "C6"), "fl7")
