"""Regions of interest: what ROI_ALIGN and ROI_POOLING share."""

import math
from collections.abc import Callable

import numpy

from npu_conformance.reference.device.quantization import real
from npu_conformance.reference.device.tensors import Array, Inputs, integer, integers, required
from npu_conformance.reference.device.windows import MOST_ELEMENTS, from_nhwc, to_nhwc

Span = tuple[float, float]
"""Start and end of a region in elements of the feature map."""

Cells = Callable[[Array, Span, Span], Array]
"""The cells [out height, out width, channels] of an image [height, width, channels], given its two spans."""


def each_region(inputs: Inputs, data: Array, nchw: bool, cells: Cells) -> Array:
    """The cells of every roi, in the operation's layout; the ratios of inputs 5 and 6 divide its coordinates."""
    images, boxes = to_nhwc(data, nchw), real(required(inputs[1]))
    height, width = integer(inputs[3]), integer(inputs[4])
    ratio_y, ratio_x = (float(required(ratio).data.item()) for ratio in inputs[5:7])
    check_elements(len(boxes), height, width, images.shape[3])
    result = numpy.zeros((len(boxes), height, width, images.shape[3]), data.dtype)
    for position, ((x1, y1, x2, y2), batch) in enumerate(zip(boxes, integers(inputs[2]), strict=True)):
        result[position] = cells(images[batch], (y1 / ratio_y, y2 / ratio_y), (x1 / ratio_x, x2 / ratio_x))
    return from_nhwc(result, nchw)


def check_elements(*sizes: int) -> None:
    """Raise MemoryError for arrays that are too large to be ever computed."""
    if math.prod(sizes) > MOST_ELEMENTS:
        raise MemoryError(f"{' * '.join(map(str, sizes))} elements of regions")
