"""The generator of EXPAND_DIMS."""

from npu_conformance.corpus.generators._moves import (
    FIVE,
    late,
    opened,
    rejected_outputs,
    result,
    source,
    special_floats,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import int32

OPERATION = "EXPAND_DIMS"
CASES: dict[str, tuple[tuple[int, ...], int, tuple[int, ...]]] = {
    "rank1_first": ((4,), 0, (1, 4)),
    "rank1_last": ((4,), 1, (4, 1)),
    "rank2_middle": ((2, 3), 1, (2, 1, 3)),
    "rank2_minus_one": ((2, 3), -1, (2, 3, 1)),
    "rank2_minus_three": ((2, 3), -3, (1, 2, 3)),
    "rank3_minus_two": ((2, 3, 4), -2, (2, 3, 1, 4)),
    "rank4_last": ((2, 1, 3, 2), 4, (2, 1, 3, 2, 1)),
    "rank4_minus_four": ((2, 1, 3, 2), -4, (2, 1, 1, 3, 2)),
    "rank5": ((1, 2, 1, 3, 2), 2, (1, 2, 1, 1, 3, 2)),
}
"""Dimensions, axis, dimensions of the output."""


def vectors() -> Vectors:
    """Every type; every rank; axes counted from both ends; zero points at both ends; open shapes; rejections."""
    for kind in FIVE:
        for name, (dimensions, axis, output) in CASES.items():
            inputs = {"input": source(kind, dimensions), "axis": int32(axis)}
            yield positive(f"{kind}_{name}", OPERATION, inputs, {"output": result(kind, output)}, since="1.2")
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            inputs = {"input": source(kind, (2, 3), zero_point=zero_point), "axis": int32(0)}
            outputs = {"output": result(kind, (1, 2, 3), zero_point=zero_point)}
            yield positive(f"{kind}_zero_point_{zero_point}", OPERATION, inputs, outputs, since="1.2")
    for kind in ("float32", "float16"):
        inputs = {"input": special_floats(kind, (2, 4)), "axis": int32(1)}
        yield positive(f"{kind}_special_values", OPERATION, inputs, {"output": result(kind, (2, 1, 4))}, since="1.2")
    yield from opened(OPERATION, {"input": source("float32", (2, 3)), "axis": int32(-2)}, (2, 1, 3), "1.2")
    inputs = {"input": source("float32", (2, 3)), "axis": late(int32(-2))}
    yield positive(
        "float32_axis_with_the_request", OPERATION, inputs, {"output": result("float32", (2, 1, 3))}, since="1.2"
    )
    for name, axis in {"3": 3, "minus_4": -4, "far_beyond": 100}.items():
        inputs = {"input": source("float32", (2, 3)), "axis": int32(axis)}
        yield rejection(OPERATION, f"axis_{name}", "C1", inputs, {"output": result("float32", (2, 3, 1))}, "1.2")
    beyond = {"input": source("float32", (2, 3)), "axis": int32(4)}
    yield rejection(OPERATION, "axis_4_output_open", "C1", beyond, {"output": result("float32", ())}, "1.2")
    yield from rejected_outputs(OPERATION, {"axis": int32(1)}, (2, 3), (2, 1, 3), ("C3", "C4"), "1.2")
