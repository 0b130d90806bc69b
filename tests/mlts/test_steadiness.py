"""Which answers count as the same."""

from __future__ import annotations

import re

import numpy
import pytest

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.mlts.lib.steadiness import Steadiness

FLOATS = numpy.array([0.0, 0.5, -8.0], numpy.float32)
NAN, INF = numpy.nan, numpy.inf
NONE = numpy.array([NAN, INF, -INF, 1.0], numpy.float32)
"""Values of which but one are finite."""
CODES = numpy.array([-128, 0, 127], numpy.int8)


@pytest.mark.parametrize(
    ("first", "later", "is_same"),
    [
        (FLOATS, FLOATS, True),
        (FLOATS, FLOATS + numpy.float32(0.06), True),
        (FLOATS, FLOATS + numpy.float32(0.07), False),
        (FLOATS, numpy.array([0.0, 0.5, numpy.nan], numpy.float32), False),
        (FLOATS, numpy.array([0.0, 0.5, numpy.inf], numpy.float32), False),
        (NONE, NONE, True),
        (NONE, numpy.array([NAN, INF, -INF, 1.005], numpy.float32), True),
        (NONE, numpy.array([NAN, INF, -INF, 1.01], numpy.float32), False),
        (NONE, numpy.array([NAN, -INF, INF, 1], numpy.float32), False),
        (NONE, numpy.array([INF, INF, -INF, 1], numpy.float32), False),
        (NONE, numpy.array([0, INF, -INF, 1], numpy.float32), False),
        (numpy.array([1, INF], numpy.float16), numpy.array([999, -INF], numpy.float16), False),
        (numpy.array([], numpy.float32), numpy.array([], numpy.float32), True),
        (CODES, CODES + numpy.array([1, -1, 0], numpy.int8), True),
        (CODES, numpy.array([-126, 0, 127], numpy.int8), False),
        (CODES, numpy.array([127, 0, -128], numpy.int8), False),
    ],
)
def test_answers_to_one_item(first: numpy.ndarray, later: numpy.ndarray, is_same: bool) -> None:
    steadiness = Steadiness()
    steadiness.check(3, {"scores": first})
    steadiness.check(4, {"scores": numpy.zeros_like(first)})
    if is_same:
        steadiness.check(3, {"scores": later})
        return
    with pytest.raises(Failed, match=r"output scores(\[\d\])? of item 3, executed again") as failure:
        steadiness.check(3, {"scores": later})
    assert failure.value.about == ("NNHAL-EXECUTE-018",)


def test_what_is_no_number_is_named_with_its_place_and_its_rule() -> None:
    steadiness = Steadiness()
    steadiness.check(3, {"scores": numpy.full((1, 10), 0.5, numpy.float32)})
    later = numpy.full((1, 10), 0.5, numpy.float32)
    later[0, 9] = NAN
    told = "output scores[0, 9] of item 3, executed again: expected 0.5 as the first time, found NaN"
    with pytest.raises(Failed, match=re.escape(told)) as failure:
        steadiness.check(3, {"scores": later}, "NNHAL-CACHE-010")
    assert failure.value.about == ("NNHAL-CACHE-010",)
