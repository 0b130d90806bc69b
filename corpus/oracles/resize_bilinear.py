"""RESIZE_BILINEAR: the mean of the four nearest elements, weighted by how near they are."""

import math
from fractions import Fraction

from npu_conformance.corpus.oracles._resizing import Resizing, read
from npu_conformance.corpus.oracles._windows import fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, rounded_float

_HALF = Fraction(1, 2)


def resize_bilinear(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """On stored elements, since input and output share scale and zero point.

    Quantised means go to the nearest integer, halves to even; devices may truncate.
    """
    source, given = present(inputs[0]), read(inputs)
    batches, height, width, channels = given.layout.sizes
    raw = [Fraction(element) for element in source.raw]
    rows = [_neighbours(given, row, height, given.rows) for row in range(given.rows)]
    columns = [_neighbours(given, column, width, given.columns) for column in range(given.columns)]

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        total = Fraction(0)
        for in_row, down in rows[row]:
            for in_column, right in columns[column]:
                total += down * right * raw[given.layout.flat(batch, in_row, in_column, channel)]
        if source.is_quantized:
            return round(total)
        return rounded_float(total, outputs[0].type)

    return [fill(batches, given.rows, given.columns, channels, given.nchw, element)]


def _neighbours(given: Resizing, place: int, size: int, target: int) -> list[tuple[int, Fraction]]:
    """Positions in the input on both sides of an output element, with their weights."""
    step = given.step(size, target)
    position = (place + _HALF) * step - _HALF if given.half_pixel_centers else place * step
    position = max(position, Fraction(0))
    before = math.floor(position)
    after = min(math.ceil(position), size - 1)
    return [(min(before, size - 1), 1 - (position - before)), (after, position - before)]
