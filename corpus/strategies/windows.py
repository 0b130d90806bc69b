"""Recipes of operations on images, and of matrix products."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy

from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32, int32s, scalar, tensor
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe, largest_scale
from npu_conformance.specs.neuralnetworks.enums import OperandType

_PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
_VALID = 2
_BIAS = 0.4
"""Of a bias that is drawn from -100 to 100: so many steps of the output does 1 make, where it is quantised."""


def _steps(call: Call, window: tuple[int, int]) -> dict[str, OperandSpec]:
    """Padding, strides and dilations. window: height and width of the dilated window."""
    strides = call.strides()
    numbers = {"stride_width": strides[0], "stride_height": strides[1]}
    if call.form.signature.variant == "explicit":
        limits = {"left": window[1], "right": window[1], "top": window[0], "bottom": window[0]}
        numbers |= {f"pad_{side}": min(call.decisions.below(limit), 2) for side, limit in limits.items()}
    else:
        numbers["padding_scheme"] = call.between(1, _VALID)
    return {name: int32(value) for name, value in numbers.items()}


def _dilations(call: Call) -> tuple[int, int]:
    """Height and width."""
    if not call.has("dilation_height"):
        return 1, 1
    return call.dilations()


def _pool(call: Call) -> Arguments:
    nchw, window = call.layout(), call.window()
    shape = call.image(nchw, window[0] + call.beyond(), window[1] + call.beyond(), call.size())
    return {
        "input": call.tensor("input", shape),
        **_steps(call, window),
        "filter_height": int32(window[0]),
        "filter_width": int32(window[1]),
        "nchw_layout": boolean(nchw),
    }


def _convolution(
    call: Call, channels: int, filter_shape: Sequence[int], channel_axis: int, more: dict[str, OperandSpec]
) -> Arguments:
    """filter_shape: of which dimensions 1 and 2 are the window. channel_axis: that of the output channels."""
    nchw, dilations = call.layout(), _dilations(call)
    window = tuple((size - 1) * step + 1 for size, step in zip(filter_shape[1:3], dilations, strict=True))
    sizes = [size + call.beyond() for size in window]
    given = call.tensor("input", call.image(nchw, sizes[0], sizes[1], channels))
    return {
        "input": given,
        **_products(call, given, "filter", filter_shape, channel_axis),
        **_steps(call, (window[0], window[1])),
        "nchw_layout": boolean(nchw),
        "dilation_height": int32(dilations[0]),
        "dilation_width": int32(dilations[1]),
        **more,
    }


def _products(call: Call, given: OperandSpec, name: str, shape: Sequence[int], axis: int) -> dict[str, OperandSpec]:
    """Weights and bias that fit an input, and a scale of the output that fits both. axis: that of the channels."""
    weights = _moderate(call, _weights(call, name, shape, axis), math.prod(shape) // shape[axis])
    kind, channels = call.kind("bias"), shape[axis]
    quantized = kind is OperandType.TENSOR_INT32
    scale, product = given.operand.scale * weights.operand.scale, given.operand.scale * largest_scale(weights.operand)
    if quantized:
        call.quantized_products(math.prod(shape) // channels, given.operand, weights.operand, 2, 64)
    bias = call.tensor_of(kind, (channels,), quantization=(0.0, 0), constant=True).data
    if quantized:
        bias = numpy.asarray(bias) * max(1, round(_BIAS * call.results["output"][0] / product))
    return {name: weights, "bias": tensor(kind, (channels,), bias, scale=scale, constant=True)}


def _moderate(call: Call, weights: OperandSpec, terms: int) -> OperandSpec:
    """Weights whose sums of so many products are as small as the call wants them to be."""
    data = numpy.asarray(weights.data)
    return replace(weights, data=data * call.weight(terms)) if data.dtype.kind == "f" else weights


def _weights(call: Call, name: str, shape: Sequence[int], axis: int) -> OperandSpec:
    kind = call.kind(name)
    if kind is not _PER_CHANNEL:
        return call.tensor(name, shape, constant=call.flag())
    scales = [call.scale() for _ in range(shape[axis])]
    data = call.random.integers(-127, 128, tuple(shape))
    return tensor(kind, shape, data, channel_quant=(scales, axis), constant=True)


def _plain(call: Call) -> Arguments:
    channels = call.size()
    return _convolution(call, channels, (call.size(), *call.window(), channels), 0, {})


def _depthwise(call: Call) -> Arguments:
    channels, multiplier = call.size(), call.few()
    shape = (1, *call.window(), channels * multiplier)
    return _convolution(call, channels, shape, 3, {"depth_multiplier": int32(multiplier)})


def _grouped(call: Call) -> Arguments:
    groups, each = call.several(), call.few()
    shape = (groups * call.few(), *call.window(), each)
    return _convolution(call, groups * each, shape, 0, {"groups": int32(groups)})


def _transposed(call: Call) -> Arguments:
    channels = call.size()
    shape = (call.size(), *call.window(), channels)
    arguments = dict(_convolution(call, channels, shape, 0, {}))
    if call.form.signature.variant == "implicit":
        arguments["output_shape"] = _transposed_shape(arguments, shape)
    return arguments


def _transposed_shape(arguments: dict[str, OperandSpec | Sequence[OperandSpec]], shape: Sequence[int]) -> OperandSpec:
    """The output size of which the padding scheme makes the size of the input."""

    def number(name: str) -> int:
        spec = arguments[name]
        assert isinstance(spec, OperandSpec)
        assert spec.data is not None
        return int(spec.data)  # type: ignore[arg-type]

    given = arguments["input"]
    assert isinstance(given, OperandSpec)
    nchw = bool(number("nchw_layout"))
    height, width = given.operand.dimensions[2:] if nchw else given.operand.dimensions[1:3]
    valid = number("padding_scheme") == _VALID
    sizes = [
        (size - 1) * number(stride) + window if valid else size * number(stride)
        for size, stride, window in ((height, "stride_height", shape[1]), (width, "stride_width", shape[2]))
    ]
    batch = given.operand.dimensions[0]
    return int32s(batch, shape[0], *sizes) if nchw else int32s(batch, *sizes, shape[0])


def _fully_connected(call: Call) -> Arguments:
    length, batch = call.size(), call.size()
    shape = call.decisions.pick(((batch, length), (batch, 1, length), (1, batch, 1, length)))
    given = call.tensor("input", shape)
    return {"input": given, **_products(call, given, "weights", (call.size(), length), 0)}


def _batch_matmul(call: Call) -> Arguments:
    outer = tuple(call.size() for _ in range(call.between(0, 2)))
    rows, inner, columns = call.size(), call.size(), call.size()
    turned = {"adj_x": call.flag(), "adj_y": call.flag()}
    call.quantized_result("output", 0.5 * call.between(1, 16))
    return {
        "a": call.tensor("a", (*outer, *((inner, rows) if turned["adj_x"] else (rows, inner)))),
        "b": call.tensor("b", (*outer, *((columns, inner) if turned["adj_y"] else (inner, columns)))),
        **{name: boolean(value) for name, value in turned.items()},
    }


def _resized(call: Call) -> Arguments:
    nchw, kind = call.layout(), call.kind("width")
    drawn = {name: call.between(1, 6) for name in ("width", "height")}
    height, width, channels = call.size(), call.size(), call.size()
    shape = call.image(nchw, height, width, channels)
    factor = 1 if kind is OperandType.INT32 else 2
    sizes = call.resized(drawn, {"width": width, "height": height}, halves=factor > 1)
    corners = call.flag()
    return {
        "input": call.tensor("input", shape),
        **{name: scalar(kind, size if factor == 1 else (size + 1) / factor) for name, size in sizes.items()},
        "nchw_layout": boolean(nchw),
        "align_corners": boolean(corners),
        "half_pixel_centers": boolean(call.flag() and not corners),
    }


RECIPES: dict[str, Recipe] = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D"), _pool),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _resized),
    "CONV_2D": _plain,
    "DEPTHWISE_CONV_2D": _depthwise,
    "GROUPED_CONV_2D": _grouped,
    "TRANSPOSE_CONV_2D": _transposed,
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _batch_matmul,
}
