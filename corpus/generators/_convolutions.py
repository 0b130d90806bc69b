"""What the generators of convolutions share: types with their data, and the vectors all of them need.

Float data are quarters, so that sums stay exact in float16 in any order. Quantised data lie around the zero points;
scales are chosen so that outputs spread over the type, and with activations are cut at both ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._windows import (
    ACTIVATIONS,
    PADDINGS,
    Pair,
    TransposedWindow,
    Window,
    pads,
    transposed_size,
)
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, PER_CHANNEL, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

KINDS = {
    "float32": (FLOAT32, FLOAT32, FLOAT32),
    "float16": (FLOAT16, FLOAT16, FLOAT16),
    "quant8": (QUANT8, QUANT8, INT32),
    "quant8_signed": (SIGNED, SIGNED, INT32),
    "per_channel": (QUANT8, PER_CHANNEL, INT32),
    "per_channel_signed": (SIGNED, PER_CHANNEL, INT32),
}
"""Types of input, filter and bias."""

SCALES = {"dyadic": (1 / 16, 1 / 128, 1 / 16), "odd": (0.0431, 0.0117, 0.0473)}
"""Scales of input, filter and output; none puts the limit of an activation halfway between two stored integers."""

TRAILING: dict[str, tuple[bool | None, Pair | None]] = {
    "none": (None, None),
    "nhwc": (False, None),
    "nchw": (True, None),
    "nhwc_dilation1x1": (False, (1, 1)),
    "nhwc_dilation2x1": (False, (2, 1)),
    "nchw_dilation1x2": (True, (1, 2)),
}
"""What may stand at the end of the argument list: layout, or layout and dilations (height, width)."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """Shapes of a convolution. size and window: height, width.

    multiplier: DEPTHWISE_CONV_2D's; groups: GROUPED_CONV_2D's; transposed: TRANSPOSE_CONV_2D. None of them: CONV_2D.
    """

    batches: int
    size: tuple[int, int]
    in_channels: int
    window: tuple[int, int]
    out_channels: int
    multiplier: int = 0
    groups: int = 0
    transposed: bool = False

    @property
    def operation(self) -> str:
        """The operation the sizes are for."""
        if self.transposed:
            return "TRANSPOSE_CONV_2D"
        if self.groups:
            return "GROUPED_CONV_2D"
        return "DEPTHWISE_CONV_2D" if self.multiplier else "CONV_2D"

    @property
    def has_dilation(self) -> bool:
        """True where layout and dilations are there, and may be left off the end of the list."""
        return not self.groups and not self.transposed

    @property
    def filter(self) -> Shape:
        """Dimensions of the filter, in any layout of the activations."""
        if self.multiplier:
            return (1, *self.window, self.out_channels)
        return (self.out_channels, *self.window, self.in_channels // (self.groups or 1))

    @property
    def middle(self) -> Mapping[str, int]:
        """Scalar arguments that only one of the operations has."""
        given = {"depth_multiplier": self.multiplier, "groups": self.groups}
        return {name: value for name, value in given.items() if value}

    def fit(self, window: Window) -> Window:
        """The window as the operation can have it: some have no dilation, and the layout always."""
        if self.has_dilation:
            return window
        window = replace(window, dilation=None, nchw=bool(window.nchw))
        if not self.transposed:
            return window
        wanted = window.shape(self.batches, transposed_size(self.size, window.stride), self.out_channels)
        return TransposedWindow(window.padding, window.stride, None, window.nchw, window.activation, wanted)


@dataclass(frozen=True)
class Values:
    """Data and quantisation. Zero points are those of unsigned types; signed ones get them less 128, and the data too.

    source, weights, bias: elements, or None for seeded ones. filter_scales: one for each channel, or () for some.
    """

    kind: str = "float32"
    scales: tuple[float, float, float] = SCALES["dyadic"]
    zero_points: tuple[int, int, int] = (121, 131, 117)
    seed: int = 0
    source: Any = None
    weights: Any = None
    bias: Any = None
    filter_scales: tuple[float, ...] = field(default=())

    @property
    def is_float(self) -> bool:
        """True for float32 and float16."""
        return self.kind.startswith("float")

    @property
    def shift(self) -> int:
        """What stored integers of a signed type have less than those of the unsigned one."""
        return 128 if self.kind.endswith("signed") else 0

    def channel_scales(self, channels: int) -> tuple[float, ...]:
        """The scales of a per-channel filter: all different."""
        return self.filter_scales or tuple(self.scales[1] * (1 + channel) / 2 for channel in range(channels))


def operands(sizes: Sizes, window: Window, values: Values) -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation."""
    source_type, _, bias_type = KINDS[values.kind]
    window = sizes.fit(window)
    in_shape = window.shape(sizes.batches, sizes.size, sizes.in_channels)
    out_shape = window.shape(sizes.batches, window.output_size(sizes.size, sizes.window), sizes.out_channels)
    inputs = {
        "input": tensor(source_type, in_shape, _source(in_shape, values), **_activation_quantization(values, 0)),
        "filter": _filter(sizes, values),
        "bias": constant(bias_type, (sizes.out_channels,), _bias(sizes, values), **_bias_quantization(values)),
        **window.arguments(sizes.middle),
    }
    return inputs, {"output": tensor(source_type, out_shape, **_activation_quantization(values, 2))}


def vector(name: str, sizes: Sizes, window: Window, values: Values, **details: Any) -> Vector:
    """A vector that must run."""
    inputs, outputs = operands(sizes, window, values)
    return positive(name, sizes.operation, inputs, outputs, **details)


def batch_zero(sizes: Sizes) -> Vectors:
    """A feature map without batches, in every type and both layouts. sizes: with batches 0."""
    for kind in ("float32", "float16", "quant8", "per_channel", "quant8_signed"):
        for nchw in (False, True):
            inputs, outputs = operands(sizes, Window("same", nchw=nchw), Values(kind, source=[]))
            source = inputs["input"].operand
            feature_map = tensor(KINDS[kind][0], source.dimensions, scale=source.scale, zero_point=source.zero_point)
            name = f"{kind}_batch_zero_{'nchw' if nchw else 'nhwc'}"
            yield zero_sized(name, sizes.operation, feature_map, {**inputs, "input": None}, outputs)


def cover_wide(shapes: Mapping[str, Sizes], pointwise: Sizes) -> Vectors:
    """What all but DEPTHWISE_CONV_2D ask of the shape `wide`, behind the cover of all shapes."""
    wide = shapes["wide"]
    yield from cover(shapes)
    yield from extremes(wide)
    yield from odd_geometries(wide)
    yield from limits_of_preparation(wide)
    yield needs_all_bits(pointwise)


def cover(shapes: Mapping[str, Sizes]) -> Vectors:
    """Every type, and pairwise: shape, padding, strides, dilation, layout, activation, scales."""
    has_dilation = all(sizes.has_dilation for sizes in shapes.values())
    parameters: dict[str, list[Any]] = {
        "kind": list(KINDS),
        "shape": list(shapes),
        "padding": list(PADDINGS),
        "stride": [(1, 1), (2, 1), (1, 3)],
        "trailing": list(TRAILING) if has_dilation else ["nhwc", "nchw"],
        "activation": list(ACTIVATIONS),
    }
    for seed, row in enumerate(chain(pairwise(parameters), _old_versions(shapes) if has_dilation else [])):
        sizes, (nchw, dilation) = shapes[row["shape"]], TRAILING[row["trailing"]]
        activation = ACTIVATIONS[row["activation"]]
        window = Window(pads(row["padding"], sizes.window), row["stride"], dilation, nchw, activation)
        stride = "stride{}x{}".format(*row["stride"])
        words = [row["kind"], row["shape"], row["padding"], stride, row["trailing"], row["activation"]]
        values = Values(row["kind"], SCALES["odd" if seed % 3 == 1 else "dyadic"], seed=seed)
        name = "_".join(word for word in words if word != "none")
        yield vector(name, sizes, window, values, hazards=_hazards(row))


def _old_versions(shapes: Mapping[str, Sizes]) -> list[dict[str, Any]]:
    parameters: dict[str, list[Any]] = {
        "kind": ["float32", "quant8"],
        "shape": list(shapes),
        "padding": list(PADDINGS),
        "stride": [(1, 2), (3, 1)],
    }
    rows = pairwise(parameters)
    return [{**row, "trailing": "none", "activation": list(ACTIVATIONS)[seed % 4]} for seed, row in enumerate(rows)]


def _hazards(row: Mapping[str, Any]) -> list[str]:
    hazards = ["same-padding-tail"] if row["padding"] == "same" else []
    nchw, dilation = TRAILING[row["trailing"]]
    if dilation:
        hazards.append("variant-by-type")
    if nchw:
        hazards.append("nchw-activations-only")
    return [*hazards, *([] if row["kind"].startswith("float") else ["activation-in-quanta", "bias-scale"])]


def _source(shape: Shape, values: Values) -> Any:
    if values.source is not None:
        return _shifted(values.source, values)
    if values.is_float:
        return dyadic(values.seed, shape, -2.0, 2.0, 0.25)
    data = integers(values.seed, shape, 0, 255)
    data.flat[0], data.flat[-1] = 255, 0
    return data - values.shift


def _shifted(data: Any, values: Values) -> Any:
    return numpy.asarray(data) - values.shift if values.shift else data


def _filter(sizes: Sizes, values: Values) -> OperandSpec:
    kind = KINDS[values.kind][1]
    if kind is PER_CHANNEL:
        data = integers(values.seed + 1000, sizes.filter, -127, 127) if values.weights is None else values.weights
        quant = (values.channel_scales(sizes.out_channels), 3 if sizes.multiplier else 0)
        return constant(kind, sizes.filter, data, channel_quant=quant)
    if values.is_float:
        data = dyadic(values.seed + 1000, sizes.filter, -1.0, 1.0, 0.25) if values.weights is None else values.weights
        return constant(kind, sizes.filter, data)
    data = integers(values.seed + 1000, sizes.filter, 40, 215) if values.weights is None else values.weights
    return constant(kind, sizes.filter, _shifted(data, values), **_activation_quantization(values, 1))


def _bias(sizes: Sizes, values: Values) -> Any:
    if values.bias is not None:
        return values.bias
    if values.is_float:
        return dyadic(values.seed + 2000, (sizes.out_channels,), -2.0, 2.0, 0.25)
    return integers(values.seed + 2000, (sizes.out_channels,), -3000, 3000)


def _bias_quantization(values: Values) -> dict[str, float]:
    if values.is_float or values.kind.startswith("per_channel"):
        return {}
    return {"scale": float(numpy.float32(values.scales[0]) * numpy.float32(values.scales[1]))}


def _activation_quantization(values: Values, position: int) -> dict[str, Any]:
    if values.is_float:
        return {}
    return {"scale": values.scales[position], "zero_point": values.zero_points[position] - values.shift}


def extremes(sizes: Sizes) -> Vectors:
    """Quantised corner values: zero points at the ends, padding, saturation, large bias, small and spread scales."""
    same = Window("same")
    for kind in ("quant8", "quant8_signed", "per_channel", "per_channel_signed"):
        yield from _zero_points_at_ends(kind, sizes)
        yield vector(
            f"{kind}_padding_is_real_zero",
            sizes,
            same,
            Values(kind, source=100, weights=40, bias=0, scales=(1 / 16, 1 / 128, 1 / 8), zero_points=(40, 10, 90)),
            description="a constant image: where the window leaves it the sum shrinks, and by nothing else",
        )
        yield vector(
            f"{kind}_saturates",
            sizes,
            same,
            Values(kind, scales=(0.5, 0.25, 0.3), seed=4),
            description="sums far beyond both ends of the output's range",
        )
        yield _large_bias(kind, sizes)
        yield vector(
            f"{kind}_output_scale_below_product",
            sizes,
            same,
            Values(
                kind,
                scales=(0.5, 0.25, 0.125 if kind.startswith("quant8") else 0.05),
                source=_around(sizes, 0, 121, 1),
                weights=_around(sizes, 1, 0 if kind.startswith("per_channel") else 131, 2),
                bias=_small_bias(sizes),
            ),
            since="1.2",
            hazards=["output-finer-than-product"],
            description="the output is finer than the product of the scales, which only 1.2 allows",
        )
    yield _spread_channels("per_channel", sizes)
    yield _spread_channels("per_channel_signed", sizes)


def _zero_points_at_ends(kind: str, sizes: Sizes) -> Vectors:
    ends = {"all_low": (0, 0, 0), "input_high": (255, 0, 255), "filter_high": (0, 255, 255)}
    if kind.startswith("per_channel"):
        ends = {"all_low": (0, 0, 0), "all_high": (255, 0, 255)}
    for seed, (name, points) in enumerate(ends.items()):
        values = Values(kind, (1 / 16, 1 / 128, 0.75), points, seed)
        yield vector(f"{kind}_zero_points_{name}", sizes, Window("same"), values, hazards=["bias-scale"])


def _large_bias(kind: str, sizes: Sizes) -> Vector:
    bias = [(-1) ** channel * (2**20 + 70001 * channel) for channel in range(sizes.out_channels)]
    return vector(
        f"{kind}_large_bias",
        sizes,
        Window("valid"),
        Values(kind, scales=(1 / 16, 1 / 128, 8.0), bias=bias, seed=5),
        description="biases that need more than 16 bits",
    )


def _around(sizes: Sizes, seed: int, centre: int, spread: int) -> Any:
    shape = sizes.filter if seed else (sizes.batches, *sizes.size, sizes.in_channels)
    return centre + integers(seed, shape, -spread, spread)


def _small_bias(sizes: Sizes) -> list[int]:
    return [3 * channel - 5 for channel in range(sizes.out_channels)]


def _spread_channels(kind: str, sizes: Sizes) -> Vector:
    scales = tuple(2.0 ** -(4 + 2 * channel) for channel in range(sizes.out_channels))
    bias = [(-1) ** channel * 2 ** (8 + channel) for channel in range(sizes.out_channels)]
    return vector(
        f"{kind}_scales_spread",
        sizes,
        Window("same"),
        Values(kind, scales=(1 / 16, 1.0, 0.25), filter_scales=scales, bias=bias, seed=6),
        description="each channel has a scale four times finer than the one before",
        hazards=["bias-scale"],
    )


def odd_geometries(sizes: Sizes) -> Vectors:
    """Windows as large as the padded input, strides beyond the window, scheme SAME where nothing is missing."""
    height, width = sizes.size
    for kind in ("float32", "quant8"):
        values = Values(kind, seed=8)
        yield vector(f"{kind}_window_is_input", replace(sizes, size=sizes.window), Window("valid"), values)
        skipping = Window("same", (height - 1, width - 1))
        yield vector(f"{kind}_same_skipping_stride", sizes, skipping, values, hazards=["same-padding-tail"])
        once = Window("valid", (height, width))
        yield vector(f"{kind}_stride_larger_than_input", sizes, once, values)
        padded = Window(pads("uneven", sizes.window), (2, 3))
        yield vector(f"{kind}_explicit_remainder_left_over", sizes, padded, values)


def limits_of_preparation(sizes: Sizes) -> Vectors:
    """Biases whose scale is off by less than the tolerance; sizes and a padding scheme that only the request gives."""
    for name, factor in {"above": 1 + 6e-7, "below": 1 - 6e-7}.items():
        inputs, outputs = operands(sizes, Window("same"), Values("quant8", seed=9))
        scale = float(numpy.float32(inputs["bias"].operand.scale * factor))
        inputs["bias"] = replace(inputs["bias"], operand=structs.replace(inputs["bias"].operand, scale=scale))
        about = "the scale of the bias is not quite the product of the others, within a millionth of it"
        yield positive(f"quant8_bias_scale_just_{name}", sizes.operation, inputs, outputs, description=about)
    for kind in ("float32", "quant8"):
        inputs, outputs = operands(sizes, Window("same"), Values(kind, seed=10))
        for name in ("input", "filter", "bias"):
            spec = inputs[name]
            unknown = structs.replace(spec.operand, dimensions=(0,) * len(spec.operand.dimensions))
            inputs[name] = replace(spec, operand=unknown, constant=False)
        about = "no size of input, filter and bias is known before the request"
        yield positive(f"{kind}_sizes_from_request", sizes.operation, inputs, outputs, description=about)
    inputs, outputs = operands(sizes, Window("same"), Values(seed=11))
    inputs["padding_scheme"] = replace(inputs["padding_scheme"], constant=False)
    about = "the padding scheme comes with the request; the model has the shape of the output"
    yield positive("float32_scheme_from_request", sizes.operation, inputs, outputs, description=about)


def needs_all_bits(sizes: Sizes) -> Vector:
    """Floats whose products float16 arithmetic would round away; sums of few terms."""
    shape = (sizes.batches, *sizes.size, sizes.in_channels)
    values = Values(
        source=uniform(21, shape, 0.5, 1.0),
        weights=uniform(22, sizes.filter, 0.5, 1.0),
        bias=uniform(23, (sizes.out_channels,), 0.5, 1.0),
    )
    return vector("float32_all_bits", sizes, Window("valid"), values, description="values that need all 24 bits")
