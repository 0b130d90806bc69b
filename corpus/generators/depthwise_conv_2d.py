"""The generator of DEPTHWISE_CONV_2D."""

from npu_conformance.corpus.generators._convolutions import (
    Sizes,
    Values,
    batch_zero,
    cover,
    extremes,
    limits_of_preparation,
    needs_all_bits,
    odd_geometries,
)
from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_channels import beyond_a_byte, large_windows, many_channels, wide_sums
from npu_conformance.corpus.generators._rejected_convolutions import rejected_call, rejections
from npu_conformance.corpus.generators._shared_quantization import shared_in_convolution
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import constant, int32
from npu_conformance.corpus.generators.types import FLOAT32

SHAPES = {
    "single": Sizes(1, (5, 7), 3, (2, 4), 3, 1),
    "double": Sizes(2, (6, 4), 2, (3, 2), 4, 2),
    "triple": Sizes(2, (3, 2), 2, (1, 1), 6, 3),
}
"""Depth multipliers 1, 2 and 3; no two sizes of a shape are equal, so that swapped axes show."""

CLAUSES = {
    "ranks": "C1",
    "bias_length": "C5",
    "steps": "C6",
    "paddings": "C7",
    "activation": "C9",
    "bias_scale": "C12",
    "channel_dimension": "C13",
    "outputs": "C15",
}


def vectors() -> Vectors:
    """Pairwise over all parameters; quantised corners; odd geometries; many channels; batch 0; rejections."""
    yield from cover(SHAPES)
    yield from extremes(Sizes(1, (5, 7), 2, (2, 4), 4, 2))
    yield from odd_geometries(SHAPES["single"])
    yield from limits_of_preparation(SHAPES["double"])
    yield needs_all_bits(Sizes(1, (3, 2), 2, (1, 1), 4, 2))
    yield from large_windows(Sizes(1, (6, 23), 1, (5, 5), 2, 2))
    yield from shared_in_convolution(SHAPES["double"])
    yield from wide_sums(Sizes(1, (30, 30), 1, (30, 30), 2, 2))
    yield from many_channels(Sizes(1, (4, 5), 8, (4, 4), 8, 1), Sizes(1, (1, 2), 67, (1, 2), 67, 1))
    yield from beyond_a_byte(Sizes(1, (1, 2), 259, (1, 2), 259, 1))
    yield from batch_zero(Sizes(0, (2, 2), 2, (1, 1), 4, 2))
    yield from rejections(SHAPES["double"], CLAUSES)
    yield from _rejected_filters()
    yield from long_axes("DEPTHWISE_CONV_2D")
    yield from large_steps("DEPTHWISE_CONV_2D")


def _rejected_filters() -> Vectors:
    sizes = SHAPES["double"]
    height, width = sizes.window
    two = (2, height, width, sizes.out_channels)
    filter_ = constant(FLOAT32, two, dyadic(1, two))
    yield rejected_call("filter_first_dimension_2", "C2", sizes, Values("float32"), {"filter": filter_})
    other = {"depth_multiplier": int32(3)}
    yield rejected_call("depth_multiplier_other_than_channels", "C3", sizes, Values("float32"), other)
