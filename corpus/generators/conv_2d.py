"""The generator of CONV_2D."""

from npu_conformance.corpus.generators._convolutions import Sizes, Values, batch_zero, cover_wide, vector
from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_channels import beyond_a_byte, large_windows, many_channels, wide_sums
from npu_conformance.corpus.generators._rejected_convolutions import other_input_channels, rejections
from npu_conformance.corpus.generators._shared_quantization import shared_in_convolution
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.types import FLOAT32, QUANT8
from npu_conformance.specs.documents.vectors import GeneratorDocument

SHAPES = {
    "wide": Sizes(1, (5, 7), 2, (2, 4), 3),
    "tall": Sizes(2, (6, 4), 3, (3, 2), 2),
    "pointwise": Sizes(2, (3, 2), 4, (1, 1), 5),
}
"""No two sizes of a shape are equal, so that swapped axes show."""

CLAUSES = {
    "ranks": "C1",
    "bias_length": "C3",
    "steps": "C4",
    "paddings": "C5",
    "activation": "C7",
    "bias_scale": "C10",
    "channel_dimension": "C11",
    "outputs": "C13",
}


def vectors() -> Vectors:
    """Pairwise over parameters; quantised corners; odd geometries; batch 0; real layers; many channels; rejections."""
    yield from cover_wide(SHAPES, Sizes(1, (3, 2), 2, (1, 1), 3))
    yield from batch_zero(Sizes(0, (2, 2), 3, (1, 1), 2))
    yield from _first_layers()
    yield from large_windows(Sizes(1, (6, 23), 1, (5, 5), 2))
    yield from shared_in_convolution(SHAPES["wide"])
    yield from wide_sums(Sizes(1, (1, 1), 1200, (1, 1), 3))
    yield from many_channels(Sizes(1, (2, 1), 16, (1, 1), 8), Sizes(1, (1, 1), 2, (1, 1), 67))
    yield from beyond_a_byte(Sizes(1, (1, 1), 2, (1, 1), 259))
    yield from rejections(SHAPES["wide"], CLAUSES)
    yield other_input_channels(SHAPES["wide"])
    yield from long_axes("CONV_2D")
    yield from large_steps("CONV_2D")


def _first_layers() -> Vectors:
    sizes, window = Sizes(1, (224, 224), 3, (3, 3), 4), Window("same", (2, 2))
    for kind, source_type in (("float32", FLOAT32), ("quant8", QUANT8)):
        if source_type is FLOAT32:
            data = GeneratorDocument(kind="dyadic", seed=224, low=-1.0, high=1.0, step=0.125)
        else:
            data = GeneratorDocument(kind="integers", seed=224, low=0, high=255)
        yield vector(
            f"{kind}_first_layer",
            sizes,
            window,
            Values(kind, source=data, seed=9),
            hazards=["same-padding-tail"],
            description="the first layer of an image network",
        )
