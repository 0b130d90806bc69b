"""The generator of MAX_POOL_2D."""

import numpy

from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import large_windows, long_axes
from npu_conformance.corpus.generators._pools import Sizes, batch_zero, cover, operands, rejections
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.vectors import Vector

OPERATION = "MAX_POOL_2D"


def vectors() -> Vectors:
    """Pairwise over all parameters; odd geometries; elements below zero; batch 0; rejections."""
    yield from cover(OPERATION)
    yield from _below_zero()
    yield from batch_zero(OPERATION)
    yield _all_bits()
    yield from rejections(OPERATION)
    yield from long_axes(OPERATION)
    yield from large_steps(OPERATION)
    yield from large_windows(OPERATION)


def _all_bits() -> Vector:
    """The largest is copied as it is: float16 on the way would round it."""
    sizes = Sizes(1, (4, 5), 2, (2, 2))
    inputs, outputs = operands("float32", sizes, Window("valid"), uniform(31, (1, 4, 5, 2)))
    return positive("float32_all_bits", OPERATION, inputs, outputs, description="values that need all 24 bits")


def _below_zero() -> Vectors:
    """Padding never wins, even where every element is negative."""
    sizes = Sizes(1, (4, 5), 2, (3, 3))
    for kind in ("float32", "float16", "quant8", "quant8_signed"):
        for name, window in {"same": Window("same"), "explicit": Window((2, 1, 0, 2), (2, 1))}.items():
            steps = numpy.arange(4 * 5 * 2).reshape(1, 4, 5, 2)
            data = -1.0 - steps * 0.25 if kind.startswith("float") else 90 - steps
            inputs, outputs = operands(kind, sizes, window, data)
            yield positive(
                f"{kind}_padding_never_wins_{name}",
                OPERATION,
                inputs,
                outputs,
                hazards=["same-padding-tail"],
                description="every element is negative, so that a padding of zero would be the largest",
            )
