"""RESIZE_NEAREST_NEIGHBOR: copies the element at one position of the input."""

import math
from fractions import Fraction

from npu_conformance.corpus.oracles._resizing import Resizing, read
from npu_conformance.corpus.oracles._windows import fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, round_half_away

_HALF = Fraction(1, 2)


def resize_nearest_neighbor(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Stored elements as they are. Half pixels are not subtracted again here, unlike RESIZE_BILINEAR's."""
    source, given = present(inputs[0]), read(inputs)
    batches, height, width, channels = given.layout.sizes

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        in_row = _origin(given, row, height, given.rows)
        in_column = _origin(given, column, width, given.columns)
        return source.raw[given.layout.flat(batch, in_row, in_column, channel)]

    return [fill(batches, given.rows, given.columns, channels, given.nchw, element)]


def _origin(given: Resizing, place: int, size: int, target: int) -> int:
    step = given.step(size, target)
    if given.half_pixel_centers:
        position = math.floor((place + _HALF) * step)
    elif given.align_corners:
        position = round_half_away(place * step)
    else:
        position = math.floor(place * step)
    return min(position, size - 1)
