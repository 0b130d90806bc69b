"""ROI_ALIGN."""

import math
from dataclasses import dataclass

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.regions import Span, check_elements, each_region
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def roi_align(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[roi, y, x, c] = mean over the cell's samples of input[c], interpolated between the four around each."""
    height, width, given_rows, given_columns = (integer(inputs[position]) for position in (3, 4, 7, 8))

    def cells(image: Array, vertical: Span, horizontal: Span) -> Array:
        rows = _samples(vertical, height, given_rows, image.shape[0])
        columns = _samples(horizontal, width, given_columns, image.shape[1])
        check_elements(rows.low.size, columns.low.size, image.shape[2])
        samples = columns.between(rows.between(image, axis=0), axis=1)
        cell_by_cell = samples.reshape(height, rows.each, width, columns.each, image.shape[2])
        means: Array = cell_by_cell.mean(axis=(1, 3))
        return means

    return (store(each_region(inputs, real(required(inputs[0])), bool(integer(inputs[9])), cells), outputs[0]),)


@dataclass(frozen=True)
class _Samples:
    """Samples along one axis, `each` in a cell. low, high: the elements around each; share: that of the high one."""

    low: Array
    high: Array
    share: Array
    each: int

    def between(self, values: Array, axis: int) -> Array:
        """Values at the samples of the axis."""
        shares = self.share[:, numpy.newaxis, numpy.newaxis] if axis == 0 else self.share[:, numpy.newaxis]
        between: Array = values.take(self.low, axis) * (1 - shares) + values.take(self.high, axis) * shares
        return between


def _samples(span: Span, cells: int, given: int, size: int) -> _Samples:
    """Spread samples over the cells of a span: the given number in each, or (0) about one for each element."""
    step = max(span[1] - span[0], 1.0) / cells
    each = given or math.ceil(step)
    check_elements(cells, each)
    places = numpy.minimum(span[0] + step / each * (numpy.arange(cells * each) + 0.5), size - 1)
    low = numpy.floor(places).astype(int)
    return _Samples(low, numpy.minimum(low + 1, size - 1), places - low, each)
