"""ROI_ALIGN: the mean of samples, interpolated between the four elements around each, over each cell of a region."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from npu_conformance.corpus.oracles._regions import Span, regions
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored


def roi_align(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """In exact arithmetic: Android's own rounds the weights of quantised elements to multiples of 1/255."""
    source, nchw = present(inputs[0]), bool(present(inputs[9]).scalar)
    sampling_y, sampling_x = (int(present(operand).scalar) for operand in inputs[7:9])
    weights = cache(_weights)

    def mean(at: Callable[[int, int], int], vertical: Span, horizontal: Span, row: int, column: int) -> int | float:
        total = Fraction(0)
        for y, weight_y in weights(vertical, row, sampling_y):
            across = weights(horizontal, column, sampling_x)
            total += weight_y * sum(weight_x * Fraction(source.reals[at(y, x)]) for x, weight_x in across)
        return stored(total, outputs[0])

    return regions(inputs, nchw, mean)


def _weights(span: Span, cell: int, given: int) -> list[tuple[int, Fraction]]:
    """Elements along an axis with their share in a cell. given: the number of samples, 0 for one per element."""
    step = max(span.end - span.start, Fraction(1)) / span.cells
    samples = given or math.ceil(step)
    found = []
    for sample in range(samples):
        place = span.start + step * cell + step / samples * (sample + Fraction(1, 2))
        nearest = math.floor(place)
        if nearest >= span.size - 1:
            found.append((span.size - 1, Fraction(1, samples)))
            continue
        found.append((nearest, (1 - (place - nearest)) / samples))
        found.append((nearest + 1, (place - nearest) / samples))
    return found
