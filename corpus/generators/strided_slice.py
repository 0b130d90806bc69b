"""The generator of STRIDED_SLICE."""

from dataclasses import dataclass

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FOUR,
    rejected_outputs,
    rejected_ranks,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, int32, int32s
from npu_conformance.corpus.vectors import Vector

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Arguments, and the dimensions of the output, worked out by hand."""

    dimensions: Numbers
    begin: Numbers
    end: Numbers
    strides: Numbers
    output: Numbers
    begin_mask: int = 0
    end_mask: int = 0
    shrink_axis_mask: int = 0


CASES = {
    "rank1": Case((7,), (1,), (5,), (1,), (4,)),
    "rank1_remainder": Case((7,), (0,), (6,), (4,), (2,)),
    "rank1_negative_ends": Case((7,), (-5,), (-1,), (2,), (2,)),
    "rank1_beyond_the_end": Case((7,), (3,), (100,), (1,), (4,)),
    "rank1_before_the_start": Case((7,), (-100,), (3,), (1,), (3,)),
    "rank1_backwards": Case((7,), (5,), (1,), (-2,), (2,)),
    "rank1_backwards_negative_ends": Case((7,), (-1,), (-5,), (-1,), (4,)),
    "rank1_backwards_from_beyond": Case((7,), (100,), (2,), (-1,), (4,)),
    "rank1_backwards_to_before": Case((7,), (3,), (-100,), (-1,), (4,)),
    "rank1_begin_mask": Case((7,), (4,), (6,), (1,), (6,), begin_mask=1),
    "rank1_end_mask": Case((7,), (2,), (3,), (2,), (3,), end_mask=1),
    "rank1_backwards_masks": Case((7,), (2,), (5,), (-3,), (3,), begin_mask=1, end_mask=1),
    "rank1_shrink": Case((7,), (4,), (5,), (1,), (1,), shrink_axis_mask=1),
    "rank1_shrink_from_the_end": Case((7,), (-2,), (-1,), (1,), (1,), shrink_axis_mask=1),
    "rank2": Case((3, 5), (1, 0), (3, 4), (1, 2), (2, 2)),
    "rank2_second_backwards": Case((3, 5), (0, 4), (2, 0), (1, -2), (2, 2)),
    "rank2_begin_mask_second": Case((3, 5), (1, 3), (3, 4), (1, 1), (2, 4), begin_mask=2),
    "rank2_end_mask_first": Case((3, 5), (1, 1), (2, 3), (1, 1), (2, 2), end_mask=1),
    "rank2_shrink_first": Case((3, 5), (1, 1), (2, 4), (1, 1), (3,), shrink_axis_mask=1),
    "rank2_shrink_second": Case((3, 5), (0, 2), (3, 3), (2, 1), (2,), shrink_axis_mask=2),
    "rank2_shrink_both": Case((3, 5), (1, 3), (2, 4), (1, 1), (1,), shrink_axis_mask=3),
    "rank3_shrink_middle": Case((2, 3, 4), (0, 2, 1), (2, 3, 4), (1, 1, 2), (2, 2), shrink_axis_mask=2),
    "rank3_masks": Case((2, 3, 4), (0, 2, 3), (2, 0, 3), (1, -1, 2), (2, 2, 2), begin_mask=4),
    "rank4": Case((2, 3, 4, 5), (0, 1, 0, 1), (2, 3, 4, 5), (1, 1, 3, 2), (2, 2, 2, 2)),
    "rank4_everything": Case(
        (2, 3, 4, 5),
        (1, 0, -1, 4),
        (2, 2, -4, 1),
        (1, 1, -2, -1),
        (3, 2, 5),
        begin_mask=8,
        end_mask=10,
        shrink_axis_mask=1,
    ),
    "rank1_shrink_the_last": Case((7,), (-1,), (7,), (1,), (1,), shrink_axis_mask=1),
    "rank2_shrink_the_last": Case((3, 5), (0, -1), (3, 5), (1, 1), (3,), shrink_axis_mask=2),
    "rank4_shrink_the_last": Case(
        (2, 3, 2, 5), (0, -1, 0, -1), (2, 3, 2, 5), (1, 1, 1, 1), (2, 2), shrink_axis_mask=10
    ),
}


def vectors() -> Vectors:
    """Every case in float32, and the types spread over them; rejections."""
    for position, (name, case) in enumerate(CASES.items()):
        yield _positive("float32", name, case)
        yield _positive(FOUR[1 + position % 3], name, case)
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (2, 4)), **_arguments(Case((2, 4), (0, 3), (2, -5), (1, -1), (2, 4)))}
        yield positive(f"{kind}_negative_zeros", "STRIDED_SLICE", inputs, {"output": result(kind, (2, 4))}, since="1.1")
    yield from _rejected()
    yield from long_axes("STRIDED_SLICE")


def _rejected() -> Vectors:
    five = Case((1, 2, 1, 1, 3), (0,) * 5, (1, 2, 1, 1, 3), (1,) * 5, ())
    yield from rejected_ranks("STRIDED_SLICE", _arguments(five), "1.1")
    wrong = {
        "begin_too_short": ("C2", Case((3, 5), (0,), (2, 2), (1, 1), (2, 2))),
        "end_too_long": ("C2", Case((3, 5), (0, 0), (2, 2, 1), (1, 1), (2, 2))),
        "strides_too_short": ("C2", Case((3, 5), (0, 0), (2, 2), (1,), (2, 2))),
        "stride_0": ("C3", Case((3, 5), (0, 0), (2, 2), (1, 0), (2, 2))),
        "shrink_two_elements": ("C4", Case((3, 5), (0, 0), (2, 2), (1, 1), (2,), shrink_axis_mask=1)),
        "shrink_no_element": ("C4", Case((3, 5), (1, 0), (1, 2), (1, 1), (2,), shrink_axis_mask=1)),
        "shrink_backwards": ("C4", Case((3, 5), (1, 0), (0, 2), (-1, 1), (2,), shrink_axis_mask=1)),
    }
    for name, (clause, case) in wrong.items():
        inputs = {"input": source("float32", case.dimensions), **_arguments(case)}
        yield rejection("STRIDED_SLICE", name, clause, inputs, {"output": result("float32", case.output)}, "1.1")
    case = CASES["rank2"]
    longer = Case((3, 5), (0, 0), (3, 4), (1, 2), (3, 2))
    yield from rejected_outputs("STRIDED_SLICE", _arguments(longer), case.dimensions, longer.output, ("C6", ""), "1.1")


def _arguments(case: Case) -> Operands:
    return {
        "begin": int32s(*case.begin),
        "end": int32s(*case.end),
        "strides": int32s(*case.strides),
        "begin_mask": int32(case.begin_mask),
        "end_mask": int32(case.end_mask),
        "shrink_axis_mask": int32(case.shrink_axis_mask),
    }


def _positive(kind: str, name: str, case: Case) -> Vector:
    return positive(
        f"{kind}_{name}",
        "STRIDED_SLICE",
        {"input": source(kind, case.dimensions), **_arguments(case)},
        {"output": result(kind, case.output)},
        since="1.1",
        hazards=["strided-slice-ends"],
    )
