"""The generator of CHANNEL_SHUFFLE.

By hand: a b c d e f in two groups of three is a b c | d e f; the first of each, the second and the third: a d b e c f.
"""

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FOUR,
    late,
    opened,
    rejected_outputs,
    rejected_ranks,
    result,
    source,
    special_floats,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32
from npu_conformance.corpus.vectors import Vector

OPERATION = "CHANNEL_SHUFFLE"
CASES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "rank1_two_groups": ((6,), 2, 0),
    "rank1_three_groups": ((6,), 3, -1),
    "rank2_axis0": ((6, 2), 2, 0),
    "rank2_axis1": ((2, 6), 3, 1),
    "rank3_axis1": ((2, 6, 2), 2, 1),
    "rank3_minus_rank": ((4, 1, 3), 2, -3),
    "rank4_channels_last": ((1, 2, 2, 8), 4, 3),
    "rank4_channels_first": ((2, 6, 1, 2), 3, -3),
    "hypercube_axis1": ((4, 4, 4, 4), 2, 1),
    "one_group": ((2, 4), 1, 1),
    "groups_of_one": ((2, 4), 4, 1),
}
"""Dimensions, number of groups, axis."""


def arguments(groups: int, axis: int) -> Operands:
    """The inputs behind the tensor."""
    return {"num_groups": int32(groups), "axis": int32(axis)}


def vectors() -> Vectors:
    """Every type; every rank; axes counted from both ends; zero points at both ends; open shapes; rejections."""
    for kind in FOUR:
        for name, (dimensions, groups, axis) in CASES.items():
            yield _positive(f"{kind}_{name}", source(kind, dimensions), groups, axis, result(kind, dimensions))
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            point = {"zero_point": zero_point}
            output = result(kind, (2, 6), **point)
            yield _positive(f"{kind}_zero_point_{zero_point}", source(kind, (2, 6), **point), 2, -1, output)
    for kind in ("float32", "float16"):
        yield _positive(f"{kind}_special_values", special_floats(kind, (2, 6)), 3, 1, result(kind, (2, 6)))
    inputs = {"input": source("float32", (3, 6)), **arguments(2, -1)}
    yield from opened(OPERATION, inputs, (3, 6), "1.2", hazards=["groups-without-options"])
    requested = {key: late(spec) for key, spec in inputs.items()}
    outputs = {"output": result("float32", (3, 6))}
    yield positive(
        "float32_arguments_with_the_request",
        OPERATION,
        requested,
        outputs,
        since="1.2",
        hazards=["groups-without-options"],
    )
    single = {**requested, "num_groups": late(int32(1))}
    yield positive(
        "float32_one_group_with_the_request",
        OPERATION,
        single,
        outputs,
        since="1.2",
        hazards=["groups-without-options"],
    )
    yield from _rejected()
    yield from long_axes(OPERATION)


def _rejected() -> Vectors:
    yield from rejected_ranks(OPERATION, arguments(1, 4), "1.2")
    floats, output = source("float32", (2, 6)), {"output": result("float32", (2, 6))}
    wrong = {
        "axis_2": ("C2", 2, 2),
        "axis_minus_3": ("C2", 2, -3),
        "groups_0": ("C3", 0, 1),
        "groups_minus_2": ("C3", -2, 1),
        "groups_4": ("C4", 4, 1),
        "groups_12": ("C4", 12, -1),
    }
    for name, (clause, groups, axis) in wrong.items():
        yield rejection(OPERATION, name, clause, {"input": floats, **arguments(groups, axis)}, output, "1.2")
    yield from rejected_outputs(OPERATION, arguments(3, 1), (2, 6), (2, 6), ("C6", "C7"), "1.2")


def _positive(name: str, given: OperandSpec, groups: int, axis: int, output: OperandSpec) -> Vector:
    inputs = {"input": given, **arguments(groups, axis)}
    return positive(name, OPERATION, inputs, {"output": output}, since="1.2", hazards=["groups-without-options"])
