"""What AVERAGE_POOL_2D and MAX_POOL_2D share: windows over the elements of one channel, padding left out."""

import itertools
from collections.abc import Callable

from npu_conformance.corpus.oracles._windows import Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, Result, present


def pool(inputs: Inputs, reduce: Callable[[list[int | float], int], int | float]) -> list[Result]:
    """One result; `reduce` gets the stored elements of a window and the activation's code."""
    source = present(inputs[0])
    given = arguments(inputs, 1, 2)
    window_width, window_height = given.middle
    layout = Layout(source.dimensions, given.nchw)
    batches, height, width, channels = layout.sizes
    rows, columns = (axis.windows for axis in given.axes(height, width, window_height, window_width))
    raw = source.raw

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        places = itertools.product(rows[row], columns[column])
        window = [raw[layout.flat(batch, in_row, in_column, channel)] for (_, in_row), (_, in_column) in places]
        return reduce(window, given.activation)

    return [fill(batches, len(rows), len(columns), channels, given.nchw, element)]
