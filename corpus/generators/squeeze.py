"""The generator of SQUEEZE."""

from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._moves import (
    FOUR,
    rejected_outputs,
    rejected_ranks,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import int32s, omitted
from npu_conformance.corpus.generators.types import INT32

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...]]] = {
    "first": ((1, 3, 2), (0,), (3, 2)),
    "last": ((3, 2, 1), (2,), (3, 2)),
    "some_of_them": ((1, 3, 1, 1), (2,), (1, 3, 1)),
    "two": ((1, 3, 1, 2), (2, 0), (3, 2)),
    "omitted": ((1, 3, 1, 2), None, (3, 2)),
    "omitted_nothing_to_do": ((2, 3), None, (2, 3)),
    "every_axis": ((1, 1, 1), (0, 1, 2), (1,)),
    "omitted_every_axis": ((1, 1), None, (1,)),
    "rank1": ((1,), (0,), (1,)),
}
"""Dimensions, axes, dimensions of the output."""


def vectors() -> Vectors:
    """Every type; axes listed and omitted; nothing left over; rejections."""
    for kind in FOUR:
        for name, (dimensions, axes, output) in CASES.items():
            yield positive(
                f"{kind}_{name}",
                "SQUEEZE",
                {
                    "input": source(kind, dimensions, zero_point=7),
                    "axes": omitted(INT32, (0,)) if axes is None else int32s(*axes),
                },
                {"output": result(kind, output, zero_point=7)},
                since="1.1",
                hazards=["optional-shape-operand"],
            )
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (1, 4)), "axes": int32s(0)}
        yield positive(f"{kind}_negative_zeros", "SQUEEZE", inputs, {"output": result(kind, (4,))}, since="1.1")
    yield from _rejected()
    yield from many_results("SQUEEZE")


def _rejected() -> Vectors:
    yield from rejected_ranks("SQUEEZE", {"axes": int32s(0)}, "1.1")
    floats = source("float32", (1, 3, 1, 2))
    output = {"output": result("float32", (3, 1, 2))}
    for name, axes in {"beyond": (4,), "far_beyond": (0, 100)}.items():
        yield rejection("SQUEEZE", f"axis_{name}", "C2", {"input": floats, "axes": int32s(*axes)}, output, "1.1")
    for name, axes, left in (("3", (1,), (1, 1, 2)), ("2_among_others", (0, 3), (3, 1))):
        inputs = {"input": floats, "axes": int32s(*axes)}
        yield rejection("SQUEEZE", f"axis_of_size_{name}", "C3", inputs, {"output": result("float32", left)}, "1.1")
    yield from rejected_outputs("SQUEEZE", {"axes": int32s(0)}, (1, 3, 1, 2), (3, 1, 2), ("C5", "C6"), "1.1")
