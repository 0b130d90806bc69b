"""The generator of GROUPED_CONV_2D."""

from dataclasses import replace

from npu_conformance.corpus.generators._convolutions import Sizes, Values, cover_wide, operands, vector
from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_channels import beyond_a_byte, large_windows, many_channels, wide_sums
from npu_conformance.corpus.generators._rejected_convolutions import rejected_call, rejections, without_layout
from npu_conformance.corpus.generators._shared_quantization import shared_in_convolution
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import constant, int32
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

SHAPES = {
    "wide": Sizes(1, (4, 5), 2, (2, 3), 4, groups=2),
    "tall": Sizes(2, (5, 3), 3, (3, 2), 3, groups=3),
    "pointwise": Sizes(2, (3, 2), 4, (1, 1), 6, groups=2),
    "one_group": Sizes(1, (3, 4), 3, (2, 2), 2, groups=1),
}
"""More and fewer output channels than input channels; as many groups as channels, one group, and between."""

CLAUSES = {
    "ranks": "C1",
    "bias_length": "C5",
    "steps": "C6",
    "paddings": "C7",
    "activation": "C9",
    "bias_scale": "C11",
    "channel_dimension": "C12",
    "outputs": "C13",
}


def vectors() -> Vectors:
    """Pairwise over parameters; quantised corners; geometries; many channels; by hand; a real size; rejections."""
    yield from cover_wide(SHAPES, Sizes(1, (3, 2), 4, (1, 1), 6, groups=2))
    yield from beyond_a_byte(Sizes(1, (1, 1), 6, (1, 1), 261, groups=3))
    yield from large_windows(Sizes(1, (6, 23), 2, (5, 5), 2, groups=2))
    yield from shared_in_convolution(SHAPES["wide"])
    yield from wide_sums(Sizes(1, (1, 1), 2400, (1, 1), 2, groups=2))
    yield from many_channels(Sizes(1, (2, 1), 32, (1, 1), 8, groups=2), Sizes(1, (1, 1), 6, (1, 1), 69, groups=3))
    yield _by_hand()
    yield _many_groups()
    yield _groups_from_request()
    yield from rejections(SHAPES["wide"], CLAUSES)
    yield from _rejected_groups()
    yield from long_axes("GROUPED_CONV_2D")
    yield from large_steps("GROUPED_CONV_2D")


def _by_hand() -> Vector:
    values = Values(source=[1.0, 2.0, 3.0, 4.0], weights=[1.0, 0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 10.0], bias=[0.0] * 4)
    derivation = (
        "one pixel 1 2 3 4, two groups of two channels: the first two outputs choose channels 0 and 1 of their group, "
        "the last two times ten: 1 2 30 40"
    )
    sizes = Sizes(1, (1, 1), 4, (1, 1), 4, groups=2)
    return vector(
        "float32_by_hand", sizes, Window("valid"), values, hazards=["groups-without-options"], description=derivation
    )


def _many_groups() -> Vector:
    data = GeneratorDocument(kind="integers", seed=56, low=0, high=255)
    sizes = Sizes(1, (14, 14), 64, (3, 3), 64, groups=32)
    about = "a layer of an image network with 32 groups"
    return vector("quant8_many_groups", sizes, Window("same"), Values("quant8", source=data, seed=9), description=about)


def _groups_from_request() -> Vector:
    inputs, outputs = operands(SHAPES["wide"], Window("same"), Values("float32", seed=12))
    inputs["groups"] = replace(inputs["groups"], constant=False)
    about = "the number of groups is a model input"
    return positive("float32_groups_from_request", "GROUPED_CONV_2D", inputs, outputs, description=about)


def _rejected_groups() -> Vectors:
    sizes, values = SHAPES["wide"], Values("float32")
    for name, groups in {"0": 0, "minus_1": -1}.items():
        yield rejected_call(f"groups_{name}", "C2", sizes, values, {"groups": int32(groups)})
    yield rejected_call("more_groups_than_input_channels", "C3", sizes, values, {"groups": int32(4)})
    weights = (*sizes.filter[:3], sizes.in_channels)
    yield rejected_call(
        "filter_for_all_channels", "C3", sizes, values, {"filter": constant(FLOAT32, weights, dyadic(1, weights))}
    )
    one = {"groups": int32(1)}
    yield rejected_call("filter_for_half_the_channels", "C3", sizes, values, one)
    yield rejected_call("output_channels_not_divisible", "C4", replace(sizes, out_channels=5), values, {})
    yield without_layout(sizes)
