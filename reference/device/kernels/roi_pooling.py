"""ROI_POOLING."""

import itertools
import math

import numpy

from npu_conformance.reference.device.quantization import round_half_away
from npu_conformance.reference.device.regions import Span, each_region
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def roi_pooling(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[roi, y, x, c] = the largest input[c] of the cell; a real 0 where the cell is empty."""
    tensor, height, width = required(inputs[0]), integer(inputs[3]), integer(inputs[4])

    def cells(image: Array, vertical: Span, horizontal: Span) -> Array:
        rows, columns = _cells(vertical, height, image.shape[0]), _cells(horizontal, width, image.shape[1])
        result = numpy.full((height, width, image.shape[2]), tensor.zero_point, image.dtype)
        for (y, row), (x, column) in itertools.product(enumerate(rows), enumerate(columns)):
            elements = image[row, column]
            if elements.size:
                result[y, x] = elements.max(axis=(0, 1))
        return result

    return (each_region(inputs, tensor.data, bool(integer(inputs[7])), cells),)


def _cells(span: Span, count: int, size: int) -> list[slice]:
    """Whole elements of each cell: between edges rounded to elements, in float32 steps as the contract's authors do."""
    start, end = round_half_away(numpy.array(span, numpy.float32))
    edges = start + (end - start + 1) / numpy.float32(count) * numpy.arange(count + 1, dtype=numpy.float32)
    limited = numpy.minimum(edges, size)
    return [slice(math.floor(first), math.ceil(last)) for first, last in itertools.pairwise(limited)]
