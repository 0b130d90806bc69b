"""The generator of ROI_POOLING.

No third party has the operation. By hand: a map of 4 x 6, the roi (0.75, 1.25, 3.25, 2.75) in elements. Its edges
round to columns 1 to 3 and rows 1 to 3, both ends included, so that it is 3 wide and 3 high. Two cells of 1.5 columns
each: the left one covers columns floor(1) to ceil(2.5), that is 1 and 2, the right one floor(2.5) to ceil(4), that is 2
and 3: neighbouring cells overlap. The roi (6, 4, 6, 4) begins after the last element: its cells are empty and give 0.
"""

import numpy

from npu_conformance.corpus.generators._boxes import rejections, requantized
from npu_conformance.corpus.generators._regions import (
    Regions,
    cover,
    many_regions,
    many_results,
    operands,
    rejected_regions,
    shared_extras,
)
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.vectors import Vector

OPERATION = "ROI_POOLING"
_HAND = Regions((1, 4, 6, 1), [(0.75, 1.25, 3.25, 2.75), (6, 4, 6, 4)], [0, 0])


def vectors() -> Vectors:
    """Pairwise over all parameters; overlapping and empty cells; sizes left open; rejections."""
    yield from cover(OPERATION, {"": None}, [{}])
    yield from shared_extras(OPERATION, None)
    yield many_results(OPERATION, None)
    yield from many_regions(OPERATION, None)
    yield from _by_hand()
    yield _all_bits()
    yield from rejected_regions(OPERATION, None, {"boxes": "C7", "outputs": "C9"})
    yield from _rejected_quantization()


def _by_hand() -> Vectors:
    """Elements count up from -12, so that a cell gives its last element, and an empty one differs from all of them."""
    data = numpy.arange(-30, -6).reshape(1, 4, 6, 1) * 0.0625
    for kind in ("float32", "float16", "quant8", "quant8_signed"):
        inputs, outputs = operands(kind, _HAND, (2, 2), (1.0, 1.0), False, data)
        yield positive(
            f"{kind}_overlapping_and_empty_cells",
            OPERATION,
            inputs,
            outputs,
            since="1.2",
            description="element (row y, column x) is (6y + x - 30)/16; cells of the first roi end at (2,2), (2,3), "
            "(3,2), (3,3), so they give -1, -15/16, -5/8, -9/16; those of the second are empty",
        )


def _all_bits() -> Vector:
    """Elements that need all bits of a float32."""
    inputs, outputs = operands("float32", _HAND, (2, 2), (1.0, 1.0), False, uniform(70, (1, 4, 6, 1)))
    return positive("float32_all_bits", OPERATION, inputs, outputs, since="1.2")


def _rejected_quantization() -> Vectors:
    regions = _HAND
    data = numpy.arange(24).reshape(1, 4, 6, 1) * 0.0625
    for kind in ("quant8", "quant8_signed"):
        sound = {kind: operands(kind, regions, (2, 2), (1.0, 1.0), False, data)}
        output = sound[kind][1]["output"]
        point = output.operand.zero_point
        yield from rejections(
            OPERATION,
            sound,
            {
                f"{kind}_output_scale": ("C10", kind, {"output": requantized(output, 0.125, point)}),
                f"{kind}_output_zero_point": ("C10", kind, {"output": requantized(output, 0.0625, point + 1)}),
            },
        )
