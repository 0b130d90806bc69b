"""The generator of L2_POOL_2D."""

import numpy

from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import large_windows, long_axes
from npu_conformance.corpus.generators._pools import SHAPES, Sizes, batch_zero, cover, even_images, operands, rejections
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.vectors import Vector

OPERATION = "L2_POOL_2D"


def vectors() -> Vectors:
    """Pairwise over all parameters; odd geometries; the divisor; a case by hand; all bits; batch 0; rejections."""
    yield from cover(OPERATION)
    yield from even_images(
        OPERATION, "the root of the mean square of equal elements is their magnitude, at the border too"
    )
    yield from _by_hand()
    yield _all_bits()
    yield from batch_zero(OPERATION)
    yield from rejections(OPERATION)
    yield from long_axes(OPERATION)
    yield from large_steps(OPERATION)
    yield from large_windows(OPERATION)


def _by_hand() -> Vectors:
    """Two rows under a window of both and one column; squares of very large and very small numbers."""
    data = numpy.array([0.0, -3.0, 1.0, -1.0, -4.0, 0.0, 7.0, -1.0]).reshape(1, 2, 4, 1)
    inputs, outputs = operands("float32", Sizes(1, (2, 4), 1, (2, 1)), Window(), data)
    derivation = "columns 0 -4, -3 0, 1 7 and -1 -1: mean squares 8, 4.5, 25 and 1, roots 2.8284, 2.1213, 5 and 1"
    yield positive("float32_by_hand", OPERATION, inputs, outputs, description=derivation)
    values = numpy.array([2.0**40, 2.0**-40, -(2.0**40), -(2.0**-40)]).reshape(1, 1, 2, 2)
    inputs, outputs = operands("float32", Sizes(1, (1, 2), 2, (1, 2)), Window(), values)
    about = "squares of 2^80 and 2^-80, far beyond float16's range and within float32's"
    yield positive("float32_wide_range", OPERATION, inputs, outputs, description=about, excluded=("relaxed", "float16"))


def _all_bits() -> Vector:
    sizes, window = SHAPES["wide"], Window("same")
    inputs, outputs = operands("float32", sizes, window, uniform(33, (1, 5, 7, 2), 0.5, 1.0))
    return positive("float32_all_bits", OPERATION, inputs, outputs, description="values that need all 24 bits")
