"""ROI_POOLING: the largest element of each cell of a region whose edges are rounded to whole elements."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from npu_conformance.corpus.oracles._regions import Span, regions
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, round_half_away


def roi_pooling(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """On stored elements: input and output share scale and zero point. A cell without elements gives a real 0."""
    source, nchw = present(inputs[0]), bool(present(inputs[7]).scalar)
    elements = cache(_elements)

    def largest(at: Callable[[int, int], int], vertical: Span, horizontal: Span, row: int, column: int) -> int | float:
        places = [(y, x) for y in elements(vertical, row) for x in elements(horizontal, column)]
        return max((source.raw[at(y, x)] for y, x in places), default=source.zero_point)

    return regions(inputs, nchw, largest)


def _elements(span: Span, cell: int) -> range:
    start, end = round_half_away(span.start), round_half_away(span.end)
    step = Fraction(max(end - start + 1, 1), span.cells)
    first, last = math.floor(start + step * cell), math.ceil(start + step * (cell + 1))
    return range(min(first, span.size), min(last, span.size))
