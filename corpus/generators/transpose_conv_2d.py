"""The generator of TRANSPOSE_CONV_2D."""

from dataclasses import replace

from npu_conformance.corpus.generators._convolutions import Sizes, Values, batch_zero, cover_wide, operands, vector
from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._many_channels import beyond_a_byte, large_windows, many_channels, wide_sums
from npu_conformance.corpus.generators._rejected_convolutions import other_input_channels, rejections, without_layout
from npu_conformance.corpus.generators._shared_quantization import shared_in_convolution
from npu_conformance.corpus.generators._windows import RELU6, Pads, Pair, Window
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.operands import int32, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

SHAPES = {
    "wide": Sizes(1, (2, 3), 2, (2, 4), 3, transposed=True),
    "tall": Sizes(2, (3, 2), 3, (3, 2), 1, transposed=True),
    "pointwise": Sizes(1, (3, 2), 4, (1, 1), 2, transposed=True),
}
"""Windows that overlap in the output, meet, and leave gaps, by stride."""

CLAUSES = {
    "ranks": "C1",
    "bias_length": "C3",
    "steps": "C4",
    "paddings": "C5",
    "activation": "C8",
    "bias_scale": "C11",
    "channel_dimension": "C12",
    "outputs": "C13",
}


def vectors() -> Vectors:
    """Pairwise over parameters; corners; geometries; many channels; paddings; batch 0; upsampling; rejections."""
    yield from cover_wide(SHAPES, Sizes(1, (3, 2), 2, (1, 1), 3, transposed=True))
    yield from beyond_a_byte(Sizes(1, (1, 1), 2, (1, 1), 259, transposed=True))
    yield from large_windows(Sizes(1, (2, 19), 1, (5, 5), 2, transposed=True))
    yield from shared_in_convolution(SHAPES["wide"])
    yield from wide_sums(Sizes(1, (1, 1), 1200, (1, 1), 3, transposed=True))
    yield from many_channels(
        Sizes(1, (2, 1), 16, (1, 1), 8, transposed=True), Sizes(1, (1, 1), 2, (1, 1), 67, transposed=True)
    )
    yield from _negative_tails()
    yield from _schemes()
    yield from _by_hand()
    yield from batch_zero(Sizes(0, (2, 2), 3, (1, 2), 2, transposed=True))
    yield _upsampling()
    yield from rejections(SHAPES["wide"], CLAUSES)
    yield from _rejected_shapes()
    yield from large_steps("TRANSPOSE_CONV_2D")


def _negative_tails() -> Vectors:
    """A padding below 0 adds rows or columns to which nothing but the bias comes."""
    for kind in ("float32", "per_channel"):
        for name, pads in {"right": (1, -2, 0, 0), "bottom": (0, 1, 1, -3), "both": (0, -1, 0, -2)}.items():
            sizes, window = SHAPES["tall"], Window(pads, (2, 1), activation=RELU6 if name == "both" else 0)
            yield vector(
                f"{kind}_negative_{name}", sizes, window, Values(kind, seed=14), hazards=["transposed-padding"]
            )

    inputs, outputs = operands(SHAPES["wide"], Window((1, -1, 0, 1), (1, 2)), Values("float32", seed=17))
    inputs["pad_right"] = replace(inputs["pad_right"], constant=False)
    about = "the padding on the right is a model input"
    name = "float32_padding_from_request"
    yield positive(name, "TRANSPOSE_CONV_2D", inputs, outputs, hazards=["transposed-padding"], description=about)


def _schemes() -> Vectors:
    """Strides beyond the window need padding below 0 at the tail; odd totals have the larger half there."""
    shapes: dict[str, tuple[Pair, Pair, Pair]] = {
        "same_gaps": ((2, 3), (1, 2), (3, 4)),
        "same_odd_total": ((3, 4), (4, 3), (1, 2)),
        "same_one_element": ((1, 1), (3, 2), (2, 3)),
    }
    for name, (size, window, stride) in shapes.items():
        for kind in ("float32", "quant8_signed"):
            for nchw in (False, True):
                sizes = Sizes(1, size, 2, window, 3, transposed=True)
                layout = "nchw" if nchw else "nhwc"
                values = Values(kind, seed=15)
                yield vector(
                    f"{kind}_{name}_{layout}",
                    sizes,
                    Window("same", stride, nchw=nchw),
                    values,
                    hazards=["transposed-padding"],
                )
    yield from _shape_from_request()


def _shape_from_request() -> Vectors:
    for scheme, nchw in (("same", False), ("valid", True)):
        inputs, outputs = operands(SHAPES["wide"], Window(scheme, (2, 2), nchw=nchw), Values("float32", seed=16))
        inputs["output_shape"] = replace(inputs["output_shape"], constant=False)
        about = "the shape of the output is a model input"
        name = f"float32_shape_from_request_{scheme}"
        yield positive(name, "TRANSPOSE_CONV_2D", inputs, outputs, description=about)


def _by_hand() -> Vectors:
    """Pixels 1 2 times the filter 1 10 100, one row."""
    values = Values(source=[1.0, 2.0], weights=[1.0, 10.0, 100.0], bias=[0.5])
    derivations: dict[str, tuple[str | Pads, int, str]] = {
        "valid": ("valid", 2, "1 10 100 0 0 and 0 0 2 20 200, with 0.5 everywhere: 1.5 10.5 102.5 20.5 200.5"),
        "same": ("same", 2, "5 elements are one too many for 4: the last goes: 1.5 10.5 102.5 20.5"),
        "head": ((1, 0, 0, 0), 2, "without the first: 10.5 102.5 20.5 200.5"),
        "tail_added": ((0, -1, 0, 0), 2, "and a bias at the end: 1.5 10.5 102.5 20.5 200.5 0.5"),
        "gaps": ("same", 4, "6 elements, 2 more for 8: 1.5 10.5 100.5 0.5 2.5 20.5 200.5 0.5"),
    }
    for name, (padding, stride, derivation) in derivations.items():
        sizes, window = Sizes(1, (1, 2), 1, (1, 3), 1, transposed=True), Window(padding, (1, stride))
        yield vector(
            f"float32_by_hand_{name}", sizes, window, values, hazards=["transposed-padding"], description=derivation
        )


def _upsampling() -> Vector:
    data = GeneratorDocument(kind="integers", seed=91, low=0, high=255)
    sizes, window = Sizes(1, (16, 16), 16, (4, 4), 8, transposed=True), Window("same", (2, 2))
    values = Values("quant8", scales=(1 / 16, 1 / 128, 0.75), source=data, seed=9)
    return vector("quant8_upsampling", sizes, window, values, description="a layer that doubles an image")


def _rejected_shapes() -> Vectors:
    sizes, values = SHAPES["wide"], Values("float32")
    yield other_input_channels(sizes)
    for name, pads in {"width": (4, 2, 0, 0), "height": (0, 0, 2, 1)}.items():
        inputs, _ = operands(sizes, Window((0, 0, 0, 0)), values)
        sides = zip(("pad_left", "pad_right", "pad_top", "pad_bottom"), map(int32, pads), strict=True)
        output = {"output": tensor(FLOAT32, ())}
        clause = "TRANSPOSE_CONV_2D.C7"
        yield rejected(f"refused_no_{name}_left", sizes.operation, {**inputs, **dict(sides)}, output, clause=clause)
    yield without_layout(sizes)
