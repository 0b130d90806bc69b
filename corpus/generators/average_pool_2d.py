"""The generator of AVERAGE_POOL_2D."""

import numpy

from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import large_windows, long_axes
from npu_conformance.corpus.generators._pools import Sizes, batch_zero, cover, even_images, operands, rejections
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive

OPERATION = "AVERAGE_POOL_2D"


def vectors() -> Vectors:
    """Pairwise over all parameters; odd geometries; the divisor; rounding; batch 0; rejections."""
    yield from cover(OPERATION)
    yield from even_images(OPERATION, "the mean of equal elements is that element, at the border too")
    yield from _rounding()
    yield from batch_zero(OPERATION)
    yield from rejections(OPERATION)
    yield from long_axes(OPERATION)
    yield from large_steps(OPERATION)
    yield from large_windows(OPERATION)


def _rounding() -> Vectors:
    """Means just above and below halves, with both signs of stored integers."""
    data = numpy.array([[100, 101, 101], [156, 155, 155], [128, 127, 128], [0, 0, 1], [255, 254, 255], [254, 255, 254]])
    sizes, window = Sizes(1, (1, 3), 6, (1, 3)), Window()
    for kind in ("quant8", "quant8_signed"):
        inputs, outputs = operands(kind, sizes, window, data.T.reshape(1, 1, 3, 6), zero_point=128)
        yield positive(f"{kind}_rounds_to_nearest", OPERATION, inputs, outputs, hazards=["pool-divisor"])
    many = numpy.arange(16 * 17 * 2).reshape(1, 16, 17, 2) % 2 * 255
    for kind in ("quant8", "quant8_signed"):
        inputs, outputs = operands(kind, Sizes(1, (16, 17), 2, (16, 17)), window, many)
        yield positive(
            f"{kind}_sum_needs_17_bits",
            OPERATION,
            inputs,
            outputs,
            description="one channel of 272 elements at the lower limit, one at the upper",
        )
