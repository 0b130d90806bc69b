"""What ROI_ALIGN and ROI_POOLING share: regions of a feature map, in exact fractions; ratios divide.

Hazard: box-coordinates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from npu_conformance.corpus.oracles._windows import Layout, fill
from npu_conformance.corpus.oracles.base import Inputs, Result, present


@dataclass(frozen=True, eq=False)
class Span:
    """A region along one axis of the feature map. start, end: in elements; size: of the map; cells: of the output.

    There is one for each region and axis, so that what is worked out for it can be kept by it.
    """

    start: Fraction
    end: Fraction
    size: int
    cells: int


Cell = Callable[[Callable[[int, int], int], Span, Span, int, int], int | float]
"""What is stored in the cell (row, column) of the output, given the flat index of the map at (row, column)."""


def regions(inputs: Inputs, nchw: bool, cell: Cell) -> list[Result]:
    """One result: for each roi, and each channel, what `cell` finds."""
    source, rois, batches = (present(operand) for operand in inputs[:3])
    rows, columns = (int(present(operand).scalar) for operand in inputs[3:5])
    ratio_y, ratio_x = (Fraction(float(present(operand).scalar)) for operand in inputs[5:7])
    layout = Layout(source.dimensions, nchw)
    _, height, width, channels = layout.sizes

    @cache
    def spans(roi: int) -> tuple[Span, Span]:
        x1, y1, x2, y2 = (Fraction(rois.at(roi, position)) for position in range(4))
        return Span(y1 / ratio_y, y2 / ratio_y, height, rows), Span(x1 / ratio_x, x2 / ratio_x, width, columns)

    def element(roi: int, row: int, column: int, channel: int) -> int | float:
        batch = batches.integers[roi]
        return cell(lambda y, x: layout.flat(batch, y, x, channel), *spans(roi), row, column)

    return [fill(rois.dimensions[0], rows, columns, channels, nchw, element)]
