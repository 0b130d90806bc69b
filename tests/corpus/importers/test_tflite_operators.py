"""Each builtin operator, imported and run on the reference, gives what LiteRT's own reference kernels give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

import tflite_runs
from tflite_files import NONE, File, Graph

from npu_conformance.corpus.importers.tflite.importing import TfliteModel, import_model
from npu_conformance.corpus.importers.tflite.operators.table import OPERATORS
from npu_conformance.specs.versions import Version

Make = Callable[[Graph], int | Sequence[int]]
"""Fills a graph; returns its outputs."""

CASES: dict[str, Make] = {}
"""By names that begin with an operator's; behind a dot stands which of its rules."""

INT8_STEPS, REAL_ERROR = 1, 2e-6
"""How far results may lie apart: rounding of one operator, and of float32."""


def case(name: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        assert name not in CASES
        CASES[name] = make
        return make

    return add


def weights(*shape: int, seed: int = 7) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def bytes_of(*shape: int, low: int = -127, seed: int = 7) -> Any:
    return np.random.default_rng(seed).integers(low, low + 255, shape)


OPTIMIZED = {"ELU", "LOCAL_RESPONSE_NORMALIZATION", "SUM.int8_gone"}
"""What LiteRT's reference kernels have not, of which they leave out a neighbour, or whose sums they cut off."""


def both(
    make: Make, runs: int = 1, kernels: str = "BUILTIN_REF"
) -> tuple[TfliteModel, list[list[Any]], list[list[Any]]]:
    file = File()
    outputs = make(file.main)
    flatbuffer = file.pack(*([outputs] if isinstance(outputs, int) else outputs))
    model = import_model(flatbuffer, "made.tflite")
    generator = np.random.default_rng(3)
    given = [tflite_runs.random_inputs(model, generator) for _ in range(runs)]
    return model, tflite_runs.on_reference(model, given), tflite_runs.in_litert(flatbuffer, given, kernels)


def check_equal(found: list[list[Any]], expected: list[list[Any]], steps: int = INT8_STEPS) -> None:
    for one, other in zip(found, expected, strict=True):
        for value, wanted in zip(one, other, strict=True):
            assert (value.dtype, value.shape) == (wanted.dtype, wanted.shape)
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(value, wanted, rtol=REAL_ERROR, atol=REAL_ERROR)
            else:
                difference = np.abs(value.astype(np.int64) - wanted.astype(np.int64))
                assert difference.max() <= (steps if wanted.dtype.itemsize == 1 and wanted.dtype != bool else 0)
            assert np.unique(wanted).size > 1 or wanted.size == 1, "an output that says nothing"


F4, F2 = ("FLOAT32", (1, 6, 5, 4)), ("FLOAT32", (3, 4))
Q = (0.05, 3)
"""A quantisation of int8."""


def unary(name: str, kind: str = "", scale: float = 1.0, **options: Any) -> None:
    """An operator of float32 with one input."""

    @case(name)
    def make(graph: Graph) -> int:
        given = graph.input("FLOAT32", (3, 4))
        if scale == 1.0:
            return graph.operator(name.partition(".")[0], [given], F2, kind, **options)
        scaled = graph.operator("MUL", [given, graph.constant("FLOAT32", [scale])], F2, "Mul")
        moved = graph.operator("ABS", [scaled], F2)
        return graph.operator(name.partition(".")[0], [moved], F2, kind, **options)


for one in ("ABS", "NEG", "EXP", "FLOOR", "SIN", "LOGISTIC", "TANH", "ELU", "RELU", "RELU_N1_TO_1", "HARD_SWISH"):
    unary(one)
for one in ("SQRT", "RSQRT", "LOG", "RELU6", "RELU_0_TO_1", "SQUARE"):
    unary(one, scale=9.0)
unary("SOFTMAX", "Softmax", beta=2.5)
unary("LOG_SOFTMAX")
unary("L2_NORMALIZATION", "L2Norm")
unary("LEAKY_RELU", "LeakyRelu", alpha=0.2)


def quantized(name: str, result: tuple[float, int], kind: str = "", dtype: str = "INT8", **options: Any) -> None:
    """An operator of 8-bit integers with one input."""

    @case(f"{name}.{dtype}")
    def make(graph: Graph) -> int:
        given = graph.input(dtype, (3, 4), 0.05, 3 if dtype == "INT8" else 131)
        return graph.operator(name, [given], (dtype, (3, 4), *result), kind, **options)


quantized("LOGISTIC", (1 / 256, -128))
quantized("LOGISTIC", (1 / 256, 0), dtype="UINT8")
quantized("TANH", (1 / 128, 0))
quantized("SOFTMAX", (1 / 256, -128), "Softmax", beta=1.0)
quantized("RELU", (0.05, 3))
quantized("RELU6", (6 / 255, -128))
quantized("HARD_SWISH", (0.04, -20))
quantized("LEAKY_RELU", (0.05, -10), "LeakyRelu", alpha=0.1)
quantized("QUANTIZE", (0.031, -7))


def binary(name: str, kind: str = "", shapes: Any = ((3, 4), (4,)), dtype: str = "FLOAT32", suffix: str = "") -> None:
    @case(name + suffix)
    def make(graph: Graph) -> int:
        given = [graph.input(dtype, shape, *(Q if dtype == "INT8" else ())) for shape in shapes]
        is_truth = name.startswith(("EQUAL", "NOT_", "GREATER", "LESS", "LOGICAL"))
        return graph.operator(name, given, ("BOOL" if is_truth else dtype, shapes[0]), kind)


for one, kind in (("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul"), ("DIV", "Div"), ("MAXIMUM", ""), ("MINIMUM", "")):
    binary(one, kind)
for one in ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
    binary(one)
for one in ("EQUAL", "NOT_EQUAL"):
    binary(one, shapes=((2, 300), (2, 300)), dtype="INT8")
for one in ("LOGICAL_AND", "LOGICAL_OR"):
    binary(one, shapes=((2, 9), (2, 9)), dtype="BOOL")
binary("ADD", "Add", dtype="INT32", suffix=".int32")
binary("SQUARED_DIFFERENCE", "SquaredDifference")


@case("LOGICAL_NOT")
def logical_not(graph: Graph) -> int:
    return graph.operator("LOGICAL_NOT", [graph.input("BOOL", (9,))], ("BOOL", (9,)))


@case("POW")
def power(graph: Graph) -> int:
    base = graph.operator("ABS", [graph.input("FLOAT32", (3, 4))], F2)
    return graph.operator("POW", [base, graph.constant("FLOAT32", weights(3, 4))], F2)


@case("PRELU")
def prelu(graph: Graph) -> int:
    return graph.operator("PRELU", [graph.input(*F4), graph.constant("FLOAT32", weights(1, 1, 4))], F4)


@case("ADD.int8_relu")
def add_int8(graph: Graph) -> int:
    given = [graph.input("INT8", (3, 40), 0.05, 3), graph.input("INT8", (3, 40), 0.02, -30)]
    return graph.operator("ADD", given, ("INT8", (3, 40), 0.06, -5), "Add", fusedActivationFunction=1)


@case("MUL.relu6")
def mul_relu6(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("FLOAT32", 30 * weights(3, 4))]
    return graph.operator("MUL", given, F2, "Mul", fusedActivationFunction=3)


@case("ADD_N")
def add_n(graph: Graph) -> int:
    return graph.operator("ADD_N", [graph.input(*F2) for _ in range(3)], F2)


@case("SELECT")
def select(graph: Graph) -> int:
    given = [graph.input("BOOL", (3, 4)), graph.input(*F2), graph.input(*F2)]
    return graph.operator("SELECT", given, F2, "Select")


@case("SELECT_V2")
def select_v2(graph: Graph) -> int:
    given = [graph.input("BOOL", (3, 4)), graph.input(*F2), graph.input(*F2)]
    return graph.operator("SELECT_V2", given, F2, "SelectV2")


@case("CONV_2D")
def conv_same_strided_relu6(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(3, 2, 3, 4)), graph.constant("FLOAT32", weights(3))]
    options = {"padding": 0, "strideH": 2, "strideW": 1, "fusedActivationFunction": 3}
    return graph.operator("CONV_2D", given, ("FLOAT32", (1, 3, 5, 3)), "Conv2D", **options)


@case("CONV_2D.dilated")
def conv_dilated(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(3, 2, 2, 4)), graph.constant("FLOAT32", weights(3))]
    options = {"padding": 1, "strideH": 1, "strideW": 1, "dilationHFactor": 3, "dilationWFactor": 2}
    return graph.operator("CONV_2D", given, ("FLOAT32", (1, 3, 3, 3)), "Conv2D", **options)


@case("CONV_2D.grouped")
def conv_grouped(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(6, 2, 2, 2)), graph.constant("FLOAT32", weights(6))]
    return graph.operator("CONV_2D", given, ("FLOAT32", (1, 5, 4, 6)), "Conv2D", padding=1, strideH=1, strideW=1)


@case("CONV_2D.tanh_behind")
def conv_tanh(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(3, 1, 1, 4)), graph.constant("FLOAT32", weights(3))]
    inner = graph.operator("CONV_2D", given, ("FLOAT32", (1, 6, 5, 3)), "Conv2D", padding=1, strideH=1, strideW=1)
    return graph.operator("TANH", [inner], ("FLOAT32", (1, 6, 5, 3)))


@case("CONV_2D.int8_per_channel")
def conv_per_channel(graph: Graph) -> int:
    scales = [0.01, 0.02, 0.005]
    filters = graph.tensor("INT8", (3, 2, 2, 4), scales, value=bytes_of(3, 2, 2, 4))
    bias = graph.tensor("INT32", (3,), [0.05 * scale for scale in scales], value=[100, -200, 300])
    given = [graph.input("INT8", (1, 6, 5, 4), *Q), filters, bias]
    return graph.operator("CONV_2D", given, ("INT8", (1, 5, 4, 3), 0.1, -4), "Conv2D", padding=1, strideH=1, strideW=1)


@case("CONV_2D.int8_per_tensor_rounded_bias_scale")
def conv_per_tensor(graph: Graph) -> int:
    filters = graph.tensor("INT8", (3, 2, 2, 4), 0.01, value=bytes_of(3, 2, 2, 4))
    bias = graph.tensor("INT32", (3,), 0.0005001, value=[100, -200, 300])
    given = [graph.input("INT8", (1, 6, 5, 4), *Q), filters, bias]
    return graph.operator("CONV_2D", given, ("INT8", (1, 5, 4, 3), 0.1, -4), "Conv2D", padding=1, strideH=1, strideW=1)


@case("CONV_2D.uint8")
def conv_uint8(graph: Graph) -> int:
    filters = graph.tensor("UINT8", (3, 2, 2, 4), 0.01, 120, value=bytes_of(3, 2, 2, 4, low=0))
    bias = graph.tensor("INT32", (3,), 0.0005, value=[100, -200, 300])
    given = [graph.input("UINT8", (1, 6, 5, 4), 0.05, 130), filters, bias]
    return graph.operator("CONV_2D", given, ("UINT8", (1, 5, 4, 3), 0.1, 99), "Conv2D", padding=1, strideH=1, strideW=1)


@case("CONV_2D.float16_weights")
def conv_float16(graph: Graph) -> int:
    filters = graph.operator("DEQUANTIZE", [graph.constant("FLOAT16", weights(3, 2, 2, 4))], ("FLOAT32", (3, 2, 2, 4)))
    bias = graph.operator("DEQUANTIZE", [graph.constant("FLOAT16", weights(3))], ("FLOAT32", (3,)))
    options = {"padding": 1, "strideH": 1, "strideW": 1}
    return graph.operator("CONV_2D", [graph.input(*F4), filters, bias], ("FLOAT32", (1, 5, 4, 3)), "Conv2D", **options)


@case("DEPTHWISE_CONV_2D")
def depthwise(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(1, 3, 2, 8)), graph.constant("FLOAT32", weights(8))]
    options = {"padding": 0, "strideH": 1, "strideW": 2, "depthMultiplier": 2, "fusedActivationFunction": 1}
    return graph.operator("DEPTHWISE_CONV_2D", given, ("FLOAT32", (1, 6, 3, 8)), "DepthwiseConv2D", **options)


@case("DEPTHWISE_CONV_2D.no_bias")
def depthwise_no_bias(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("FLOAT32", weights(1, 3, 2, 4))]
    options = {"padding": 1, "strideH": 1, "strideW": 1, "depthMultiplier": 1}
    return graph.operator("DEPTHWISE_CONV_2D", given, ("FLOAT32", (1, 4, 4, 4)), "DepthwiseConv2D", **options)


@case("DEPTHWISE_CONV_2D.int8_per_channel_dilated")
def depthwise_int8(graph: Graph) -> int:
    scales = [0.01, 0.02, 0.005, 0.03]
    filters = graph.tensor("INT8", (1, 2, 2, 4), scales, axis=3, value=bytes_of(1, 2, 2, 4))
    bias = graph.tensor("INT32", (4,), [0.05 * scale for scale in scales], value=[100, -200, 300, 0])
    given = [graph.input("INT8", (1, 6, 5, 4), *Q), filters, bias]
    options = {"padding": 1, "strideH": 1, "strideW": 1, "depthMultiplier": 1, "dilationHFactor": 2}
    options["dilationWFactor"] = 2
    return graph.operator("DEPTHWISE_CONV_2D", given, ("INT8", (1, 4, 3, 4), 0.1, 4), "DepthwiseConv2D", **options)


@case("TRANSPOSE_CONV")
def transpose_conv(graph: Graph) -> int:
    shape, filters = graph.constant("INT32", [1, 12, 5, 3]), graph.constant("FLOAT32", weights(3, 3, 2, 4))
    options = {"padding": 0, "strideH": 2, "strideW": 1}
    return graph.operator(
        "TRANSPOSE_CONV", [shape, filters, graph.input(*F4)], ("FLOAT32", (1, 12, 5, 3)), "TransposeConv", **options
    )


@case("TRANSPOSE_CONV.valid_bias")
def transpose_conv_bias(graph: Graph) -> int:
    shape, filters = graph.constant("INT32", [1, 13, 6, 3]), graph.constant("FLOAT32", weights(3, 3, 2, 4))
    given = [shape, filters, graph.input(*F4), graph.constant("FLOAT32", weights(3))]
    options = {"padding": 1, "strideH": 2, "strideW": 1}
    return graph.operator("TRANSPOSE_CONV", given, ("FLOAT32", (1, 13, 6, 3)), "TransposeConv", **options)


def pool(name: str, *quantization: Any) -> None:
    @case(f"{name}.int8" if quantization else name)
    def make(graph: Graph) -> int:
        kind = "INT8" if quantization else "FLOAT32"
        options = {"padding": 0, "strideH": 2, "strideW": 1, "filterHeight": 3, "filterWidth": 2}
        given = graph.input(kind, (1, 6, 5, 4), *quantization)
        return graph.operator(name, [given], (kind, (1, 3, 5, 4), *quantization), "Pool2D", **options)


for one in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
    pool(one)
for one in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    pool(one, *Q)


@case("FULLY_CONNECTED")
def fully_connected(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("FLOAT32", weights(5, 4)), graph.constant("FLOAT32", weights(5))]
    return graph.operator("FULLY_CONNECTED", given, ("FLOAT32", (3, 5)), "FullyConnected", fusedActivationFunction=1)


@case("FULLY_CONNECTED.kept_axes_no_bias")
def fully_connected_kept(graph: Graph) -> int:
    given = [graph.input("FLOAT32", (2, 3, 4)), graph.constant("FLOAT32", weights(5, 4)), NONE]
    return graph.operator("FULLY_CONNECTED", given, ("FLOAT32", (2, 3, 5)), "FullyConnected", keepNumDims=True)


@case("FULLY_CONNECTED.int8")
def fully_connected_int8(graph: Graph) -> int:
    filters = graph.tensor("INT8", (5, 4), 0.01, value=bytes_of(5, 4))
    bias = graph.tensor("INT32", (5,), 0.0005, value=[100, -200, 300, 0, 5])
    given = [graph.input("INT8", (3, 4), *Q), filters, bias]
    return graph.operator("FULLY_CONNECTED", given, ("INT8", (3, 5), 0.05, 0), "FullyConnected")


@case("FULLY_CONNECTED.int8_per_channel_kept_axes")
def fully_connected_per_channel(graph: Graph) -> int:
    scales = [0.01, 0.02, 0.005, 0.03, 0.015]
    filters = graph.tensor("INT8", (5, 4), scales, value=bytes_of(5, 4))
    bias = graph.tensor("INT32", (5,), [0.05 * scale for scale in scales], value=[100, -200, 300, 0, 5])
    given = [graph.input("INT8", (2, 3, 4), *Q), filters, bias]
    options = {"keepNumDims": True, "fusedActivationFunction": 1}
    return graph.operator("FULLY_CONNECTED", given, ("INT8", (2, 3, 5), 0.05, -20), "FullyConnected", **options)


@case("RESHAPE")
def reshape(graph: Graph) -> int:
    return graph.operator("RESHAPE", [graph.input(*F2), graph.constant("INT32", [2, -1])], ("FLOAT32", (2, 6)))


@case("RESHAPE.computed_shape")
def computed_shape(graph: Graph) -> int:
    """What converters make of a batch that they do not know: SHAPE, STRIDED_SLICE, PACK."""
    given = graph.input("FLOAT32", (2, 3, 4))
    shape = graph.operator("SHAPE", [given], ("INT32", (3,)), "Shape", outType=2)
    bounds = [graph.constant("INT32", [at]) for at in (0, 1, 1)]
    batch = graph.operator("STRIDED_SLICE", [shape, *bounds], ("INT32", ()), "StridedSlice", shrinkAxisMask=1)
    wanted = graph.operator("PACK", [batch, graph.constant("INT32", 12)], ("INT32", (2,)), "Pack", valuesCount=2)
    return graph.operator("RESHAPE", [given, wanted], ("FLOAT32", (2, 12)))


@case("SHAPE")
@case("RANK")
def shape_and_rank(graph: Graph) -> list[int]:
    given = graph.input("FLOAT32", (2, 3, 4))
    shape = graph.operator("SHAPE", [given], ("INT32", (3,)), "Shape", outType=2)
    rank = graph.operator("RANK", [given], ("INT32", ()))
    return [shape, rank, graph.operator("ABS", [given], ("FLOAT32", (2, 3, 4)))]


@case("SQUEEZE")
def squeeze(graph: Graph) -> int:
    given = graph.input("FLOAT32", (1, 3, 1, 4))
    return graph.operator("SQUEEZE", [given], ("FLOAT32", (1, 3, 4)), "Squeeze", squeezeDims=[-2])


@case("SQUEEZE.all")
def squeeze_all(graph: Graph) -> int:
    return graph.operator("SQUEEZE", [graph.input("FLOAT32", (1, 3, 1, 4))], ("FLOAT32", (3, 4)), "Squeeze")


@case("EXPAND_DIMS")
def expand_dims(graph: Graph) -> int:
    return graph.operator("EXPAND_DIMS", [graph.input(*F2), graph.constant("INT32", -1)], ("FLOAT32", (3, 4, 1)))


@case("TRANSPOSE.int8")
@case("TRANSPOSE")
def transpose(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3, 4), *Q), graph.constant("INT32", [2, 0, 1])]
    return graph.operator("TRANSPOSE", given, ("INT8", (4, 2, 3), *Q), "Transpose")


@case("PACK")
def pack(graph: Graph) -> int:
    given = [graph.input(*F2), graph.input(*F2)]
    return graph.operator("PACK", given, ("FLOAT32", (3, 2, 4)), "Pack", valuesCount=2, axis=1)


@case("UNPACK")
def unpack(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3,)) for _ in range(4)]
    graph.apply("UNPACK", [graph.input(*F2)], parts, "Unpack", num=4, axis=-1)
    return parts


@case("PAD")
def pad(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3), *Q), graph.constant("INT32", [[1, 0], [2, 1]])]
    return graph.operator("PAD", given, ("INT8", (3, 6), *Q), "Pad")


@case("PAD.int64_paddings")
def pad_int64(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT64", [[1, 0], [2, 1]])]
    return graph.operator("PAD", given, ("FLOAT32", (4, 7)), "Pad")


@case("PADV2")
def pad_v2(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [[1, 0], [2, 1]]), graph.constant("FLOAT32", 0.75)]
    return graph.operator("PADV2", given, ("FLOAT32", (4, 7)), "PadV2")


@case("PADV2.int8")
def pad_v2_int8(graph: Graph) -> int:
    value = graph.tensor("INT8", (), *Q, value=-90)
    given = [graph.input("INT8", (2, 3), *Q), graph.constant("INT32", [[1, 0], [2, 1]]), value]
    return graph.operator("PADV2", given, ("INT8", (3, 6), *Q), "PadV2")


@case("TILE")
def tile(graph: Graph) -> int:
    return graph.operator("TILE", [graph.input(*F2), graph.constant("INT32", [2, 3])], ("FLOAT32", (6, 12)))


@case("BROADCAST_TO")
def broadcast_to(graph: Graph) -> int:
    given = [graph.input("FLOAT32", (3, 1)), graph.constant("INT32", [2, 3, 4])]
    return graph.operator("BROADCAST_TO", given, ("FLOAT32", (2, 3, 4)))


@case("DEPTH_TO_SPACE")
def depth_to_space(graph: Graph) -> int:
    result = ("FLOAT32", (1, 12, 10, 1))
    return graph.operator("DEPTH_TO_SPACE", [graph.input(*F4)], result, "DepthToSpace", blockSize=2)


@case("SPACE_TO_DEPTH")
def space_to_depth(graph: Graph) -> int:
    given = graph.input("FLOAT32", (1, 4, 6, 3))
    return graph.operator("SPACE_TO_DEPTH", [given], ("FLOAT32", (1, 2, 3, 12)), "SpaceToDepth", blockSize=2)


@case("SPACE_TO_BATCH_ND")
def space_to_batch(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("INT32", [2, 3]), graph.constant("INT32", [[0, 0], [1, 0]])]
    return graph.operator("SPACE_TO_BATCH_ND", given, ("FLOAT32", (6, 3, 2, 4)))


@case("BATCH_TO_SPACE_ND")
def batch_to_space(graph: Graph) -> int:
    given = [
        graph.input("FLOAT32", (6, 3, 2, 4)),
        graph.constant("INT32", [2, 3]),
        graph.constant("INT32", [[0] * 2] * 2),
    ]
    return graph.operator("BATCH_TO_SPACE_ND", given, ("FLOAT32", (1, 6, 6, 4)))


@case("BATCH_TO_SPACE_ND.cropped")
def batch_to_space_cropped(graph: Graph) -> int:
    crops = graph.constant("INT32", [[0, 1], [1, 2]])
    given = [graph.input("FLOAT32", (6, 3, 2, 4)), graph.constant("INT32", [2, 3]), crops]
    return graph.operator("BATCH_TO_SPACE_ND", given, ("FLOAT32", (1, 5, 3, 4)))


@case("CONCATENATION")
def concatenation(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3), *Q), graph.tensor("INT8", (2, 2), *Q, value=bytes_of(2, 2))]
    return graph.operator("CONCATENATION", given, ("INT8", (2, 5), *Q), "Concatenation", axis=-1)


@case("SPLIT")
def split(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 2)) for _ in range(2)]
    graph.apply("SPLIT", [graph.constant("INT32", 1), graph.input(*F2)], parts, "Split", numSplits=2)
    return parts


@case("SPLIT_V")
def split_v(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 3)), graph.tensor("FLOAT32", (3, 1))]
    given = [graph.input(*F2), graph.constant("INT32", [3, -1]), graph.constant("INT32", -1)]
    graph.apply("SPLIT_V", given, parts, "SplitV", numSplits=2)
    return parts


@case("SPLIT_V.equal")
def split_v_equal(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 2)) for _ in range(2)]
    given = [graph.input(*F2), graph.constant("INT32", [2, 2]), graph.constant("INT32", 1)]
    graph.apply("SPLIT_V", given, parts, "SplitV", numSplits=2)
    return parts


@case("SLICE")
def slice_(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [1, 0]), graph.constant("INT32", [-1, 3])]
    return graph.operator("SLICE", given, ("FLOAT32", (2, 3)), "Slice")


@case("STRIDED_SLICE")
def strided_slice(graph: Graph) -> int:
    bounds = [graph.constant("INT32", values) for values in ([1, -1, 0], [9, 0, 1], [1, -2, 1])]
    options = {"beginMask": 1, "endMask": 2, "shrinkAxisMask": 4}
    given = graph.input("FLOAT32", (3, 5, 2))
    return graph.operator("STRIDED_SLICE", [given, *bounds], ("FLOAT32", (3, 3)), "StridedSlice", **options)


@case("STRIDED_SLICE.fewer_bounds")
def strided_slice_short(graph: Graph) -> int:
    bounds = [graph.constant("INT32", [at]) for at in (1, 3, 1)]
    given = graph.input("FLOAT32", (3, 5, 2))
    return graph.operator("STRIDED_SLICE", [given, *bounds], ("FLOAT32", (2, 5, 2)), "StridedSlice")


@case("GATHER")
def gather(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [[3, 0], [1, 1]])]
    return graph.operator("GATHER", given, ("FLOAT32", (3, 2, 2)), "Gather", axis=1)


@case("EMBEDDING_LOOKUP")
def embedding_lookup(graph: Graph) -> int:
    given = [graph.constant("INT32", [2, 0, 2]), graph.input(*F2)]
    return graph.operator("EMBEDDING_LOOKUP", given, ("FLOAT32", (3, 4)))


@case("HASHTABLE_LOOKUP")
def hashtable_lookup(graph: Graph) -> list[int]:
    results = [graph.tensor("FLOAT32", (4, 3)), graph.tensor("UINT8", (4,))]
    lookups, keys = graph.constant("INT32", [7, 5, -4, 99]), graph.constant("INT32", [-4, 0, 7])
    graph.apply("HASHTABLE_LOOKUP", [lookups, keys, graph.input("FLOAT32", (3, 3))], results)
    return results


for code, shape in ((1, (5,)), (2, (15,))):

    @case(f"LSH_PROJECTION.{'sparse' if code == 1 else 'dense'}")
    def lsh_projection(graph: Graph, code: int = code, shape: tuple[int, ...] = shape) -> int:
        given = [graph.constant("FLOAT32", weights(5, 3)), graph.input("INT32", (6, 2))]
        given += [graph.constant("FLOAT32", weights(6))] if code == 2 else []
        return graph.operator("LSH_PROJECTION", given, ("INT32", shape), "LSHProjection", type=code)


def reducer(name: str, keeps: bool, dtype: str = "FLOAT32", quantization: tuple[Any, ...] = ()) -> None:
    @case(f"{name}.{dtype.lower()}_{'kept' if keeps else 'gone'}")
    def make(graph: Graph) -> int:
        given = graph.input(dtype, (2, 3, 40), *(Q if quantization else ()))
        shape = (2, 1, 40) if keeps else (2, 40)
        axes = graph.constant("INT32", [-2])
        return graph.operator(name, [given, axes], (dtype, shape, *quantization), "Reducer", keepDims=keeps)


for one in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
    reducer(one, True)
    reducer(one, False)
for one in ("REDUCE_ANY", "REDUCE_ALL"):
    reducer(one, True, "BOOL")
for one in ("MEAN", "SUM"):
    reducer(one, False, "INT8", (0.16, -3))
reducer("REDUCE_MAX", False, "INT8", Q)


@case("MEAN.all_axes")
def mean_of_all(graph: Graph) -> int:
    return graph.operator("MEAN", [graph.input(*F2), graph.constant("INT32", [0, 1])], ("FLOAT32", ()), "Reducer")


for one, kind in (("ARG_MAX", "ArgMax"), ("ARG_MIN", "ArgMin")):

    @case(one)
    def argument(graph: Graph, name: str = one, kind: str = kind) -> int:
        given = [graph.input("FLOAT32", (9, 4)), graph.constant("INT32", 1)]
        return graph.operator(name, given, ("INT32", (9,)), kind, outputType=2)


@case("TOPK_V2")
def topk(graph: Graph) -> list[int]:
    results = [graph.tensor("FLOAT32", (3, 2)), graph.tensor("INT32", (3, 2))]
    graph.apply("TOPK_V2", [graph.input(*F2), graph.constant("INT32", 2)], results, "TopKV2")
    return results


for one, kind in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
    for align, half in ((False, False), (True, False), (False, True)):

        @case(f"{one}.{'align' if align else 'half' if half else 'plain'}")
        def resize(graph: Graph, name: str = one, kind: str = kind, align: bool = align, half: bool = half) -> int:
            given = [graph.input(*F4), graph.constant("INT32", [9, 7])]
            options = {"alignCorners": align, "halfPixelCenters": half}
            return graph.operator(name, given, ("FLOAT32", (1, 9, 7, 4)), kind, **options)


@case("LOCAL_RESPONSE_NORMALIZATION")
def local_response(graph: Graph) -> int:
    options = {"radius": 1, "bias": 1.0, "alpha": 0.5, "beta": 0.75}
    given = [graph.input(*F4)]
    return graph.operator("LOCAL_RESPONSE_NORMALIZATION", given, F4, "LocalResponseNormalization", **options)


@case("QUANTIZE")
@case("DEQUANTIZE")
def quantize_and_back(graph: Graph) -> list[int]:
    stored = graph.operator("QUANTIZE", [graph.input(*F2)], ("INT8", (3, 4), 0.01, 9))
    return [stored, graph.operator("DEQUANTIZE", [stored], F2)]


@case("QUANTIZE.int8_to_uint8")
def requantize(graph: Graph) -> int:
    return graph.operator("QUANTIZE", [graph.input("INT8", (3, 40), *Q)], ("UINT8", (3, 40), 0.04, 120))


@case("CAST")
def cast(graph: Graph) -> int:
    given = graph.input("INT32", (3, 4))
    return graph.operator("CAST", [given], F2, "Cast", inDataType=2, outDataType=0)


@case("FILL")
def fill(graph: Graph) -> list[int]:
    """Of constants it is one itself."""
    made = graph.operator("FILL", [graph.constant("INT32", [3, 4]), graph.constant("FLOAT32", 0.5)], F2)
    return [graph.operator("ADD", [graph.input(*F2), made], F2, "Add")]


@case("ADD.output_twice_and_input_as_output")
def copies(graph: Graph) -> list[int]:
    given = graph.input(*F2)
    total = graph.operator("ADD", [given, graph.constant("FLOAT32", weights(3, 4))], F2, "Add")
    return [total, given, total]


@case("ADD.scalars")
def scalars(graph: Graph) -> int:
    given = [graph.input("FLOAT32", (3,)), graph.constant("FLOAT32", 0.25)]
    return graph.operator("ADD", given, ("FLOAT32", (3,)), "Add")


@case("IF")
def branch(graph: Graph) -> int:
    """The sum of the first is a factor of the branch that is taken."""
    for name, kind in (("ADD", "Add"), ("MUL", "Mul")):
        inner = graph.file.graph()
        given = [inner.input(*F2), inner.input(*F2)]
        inner.outputs = [inner.operator(name, given, F2, kind)]
    inputs = [graph.input("BOOL", (1,)), graph.input(*F2), graph.input(*F2)]
    return graph.operator("IF", inputs, F2, "If", thenSubgraphIndex=1, elseSubgraphIndex=2)


@case("WHILE")
def loop(graph: Graph) -> list[int]:
    """The second is doubled as often as the first, which counts up to 4, says."""
    condition, body = graph.file.graph(), graph.file.graph()
    count, _ = condition.input("INT32", (1,)), condition.input(*F2)
    condition.outputs = [condition.operator("LESS", [count, condition.constant("INT32", [4])], ("BOOL", (1,)))]
    count, value = body.input("INT32", (1,)), body.input(*F2)
    body.outputs = [
        body.operator("ADD", [count, body.constant("INT32", [1])], ("INT32", (1,)), "Add"),
        body.operator("ADD", [value, value], F2, "Add"),
    ]
    results = [graph.tensor("INT32", (1,)), graph.tensor(*F2)]
    inputs = [graph.operator("MAXIMUM", [graph.input("INT32", (1,)), graph.constant("INT32", [1])], ("INT32", (1,)))]
    graph.apply("WHILE", [*inputs, graph.input(*F2)], results, "While", condSubgraphIndex=1, bodySubgraphIndex=2)
    return results


@pytest.mark.parametrize("name", CASES)
def test_an_imported_operator_computes_what_litert_does(name: str) -> None:
    kernels = "BUILTIN_WITHOUT_DEFAULT_DELEGATES" if name in OPTIMIZED else "BUILTIN_REF"
    _, found, expected = both(CASES[name], kernels=kernels)
    check_equal(found, expected)


def recurrent(graph: Graph, name: str) -> int:
    """An RNN or a sequence of them, with 2 units."""
    shape = (2, 3) if name == "RNN" else (2, 4, 3)
    parts = [graph.constant("FLOAT32", weights(*size)) for size in ((2, 3), (2, 2), (2,))]
    state = graph.tensor("FLOAT32", (2, 2), variable=True)
    kind = "RNN" if name == "RNN" else "SequenceRNN"
    given = graph.input("FLOAT32", shape)
    result = ("FLOAT32", (*shape[:-1], 2))
    return graph.operator(name, [given, *parts, state], result, kind, fusedActivationFunction=4)


def lstm(graph: Graph, name: str) -> int:
    """An LSTM of 2 units without peepholes, projection and layer normalisation."""
    shape = (2, 3) if name == "LSTM" else (2, 4, 3)
    given = graph.input("FLOAT32", shape)
    weighted = [graph.constant("FLOAT32", weights(2, size, seed=9 + i)) for i, size in enumerate([3] * 4 + [2] * 4)]
    biases = [graph.constant("FLOAT32", weights(2, seed=20 + i)) for i in range(4)]
    states = [graph.tensor("FLOAT32", (2, 2), variable=True) for _ in range(2)]
    inputs = [given, *weighted, *[NONE] * 3, *biases, NONE, NONE, *states, *[NONE] * 4]
    options = {"fusedActivationFunction": 4, "cellClip": 0.9, "projClip": 0.0}
    kind = "LSTM" if name == "LSTM" else "UnidirectionalSequenceLSTM"
    return graph.operator(name, inputs, ("FLOAT32", (*shape[:-1], 2)), kind, **options)


def svdf(graph: Graph) -> int:
    parts = [graph.constant("FLOAT32", weights(*size)) for size in ((4, 3), (4, 5), (2,))]
    state = graph.tensor("FLOAT32", (2, 20), variable=True)
    given = [graph.input("FLOAT32", (2, 3)), *parts, state]
    return graph.operator("SVDF", given, ("FLOAT32", (2, 2)), "SVDF", rank=2, fusedActivationFunction=1)


def bidirectional_rnn(graph: Graph, merges: bool) -> list[int]:
    """With 2 units in each direction."""
    halves = []
    for seed in (7, 17):
        parts = [graph.constant("FLOAT32", weights(*size, seed=seed)) for size in ((2, 3), (2, 2), (2,))]
        halves += [*parts, graph.tensor("FLOAT32", (2, 2), variable=True)]
    outputs = [graph.tensor("FLOAT32", (2, 4, 4 if merges else 2)) for _ in range(1 if merges else 2)]
    inputs = [graph.input("FLOAT32", (2, 4, 3)), *halves, NONE, NONE, NONE]
    options = {"fusedActivationFunction": 4, "mergeOutputs": merges}
    graph.apply("BIDIRECTIONAL_SEQUENCE_RNN", inputs, outputs, "BidirectionalSequenceRNN", **options)
    return outputs


def bidirectional_lstm(graph: Graph) -> list[int]:
    """With 2 units in each direction, whose outputs are apart."""
    given, halves = graph.input("FLOAT32", (2, 4, 3)), []
    for seed in (7, 47):
        sizes = enumerate([3] * 4 + [2] * 4)
        weighted = [graph.constant("FLOAT32", weights(2, size, seed=seed + i)) for i, size in sizes]
        biases = [graph.constant("FLOAT32", weights(2, seed=seed + 20 + i)) for i in range(4)]
        halves += [*weighted, *[NONE] * 3, *biases, NONE, NONE]
    states = [graph.tensor("FLOAT32", (2, 2), variable=True) for _ in range(4)]
    outputs = [graph.tensor("FLOAT32", (2, 4, 2)) for _ in range(2)]
    options = {"fusedActivationFunction": 4, "cellClip": 0.0, "projClip": 0.0, "timeMajor": False}
    inputs = [given, *halves, *states, *[NONE] * 9]
    graph.apply("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "BidirectionalSequenceLSTM", **options)
    return outputs


STATEFUL: dict[str, Make] = {
    "BIDIRECTIONAL_SEQUENCE_RNN": lambda graph: bidirectional_rnn(graph, merges=False),
    "BIDIRECTIONAL_SEQUENCE_RNN.merged": lambda graph: bidirectional_rnn(graph, merges=True),
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
    "RNN": lambda graph: recurrent(graph, "RNN"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": lambda graph: recurrent(graph, "UNIDIRECTIONAL_SEQUENCE_RNN"),
    "LSTM": lambda graph: lstm(graph, "LSTM"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lambda graph: lstm(graph, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "SVDF": svdf,
}


@pytest.mark.parametrize("name", STATEFUL)
def test_a_variable_tensor_goes_from_run_to_run(name: str) -> None:
    """Three runs: what the state of the first is not handed to the second shows in its result."""
    model, found, expected = both(STATEFUL[name], runs=3)
    check_equal(found, expected)
    generator = np.random.default_rng(3)
    given = [tflite_runs.random_inputs(model, generator) for _ in range(3)]
    assert not np.allclose(tflite_runs.on_reference(model, given[1:2])[0][0], expected[1][0])


def test_a_fused_tanh_is_an_operation_by_itself() -> None:
    """LiteRT's reference kernels refuse it, so the formula is the witness."""
    file = File()
    graph = file.main
    given = [graph.input(*F2), graph.constant("FLOAT32", weights(3, 4))]
    flatbuffer = file.pack(graph.operator("MUL", given, F2, "Mul", fusedActivationFunction=4))
    model = import_model(flatbuffer, "made.tflite")
    assert [operation.type for operation in model.vector.operations] == ["MUL", "TANH"]
    value = weights(3, 4, seed=1)
    ((found,),) = tflite_runs.on_reference(model, [[value]])
    np.testing.assert_allclose(found, np.tanh(value * weights(3, 4)), rtol=1e-5)


def test_an_activation_that_nnapi_does_not_fuse_is_an_operation_by_itself() -> None:
    file = File()
    graph = file.main
    given = [graph.input(*F2), graph.input(*F2)]
    fused = graph.operator("CONCATENATION", given, ("FLOAT32", (6, 4)), "Concatenation", fusedActivationFunction=1)
    model = import_model(file.pack(fused), "made.tflite")
    assert [operation.type for operation in model.vector.operations] == ["CONCATENATION", "RELU"]
    values = [weights(3, 4, seed=seed) for seed in (1, 2)]
    ((found,),) = tflite_runs.on_reference(model, [values])
    np.testing.assert_array_equal(found, np.maximum(np.concatenate(values), 0))


def test_every_operator_has_a_case() -> None:
    """Those of resource variables are in test_tflite_variables."""
    tested = {name.partition(".")[0] for name in (*CASES, *STATEFUL)}
    assert set(OPERATORS) - tested == {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}


@pytest.mark.parametrize(
    ("name", "since"),
    [("CONV_2D", Version.V1_0), ("CONV_2D.dilated", Version.V1_2), ("CONV_2D.int8_per_channel", Version.V1_3),
     ("MEAN.float32_kept", Version.V1_1), ("RESIZE_BILINEAR.half", Version.V1_3)],
)  # fmt: skip
def test_a_model_is_for_the_oldest_version_that_has_it(name: str, since: Version) -> None:
    model, _, _ = both(CASES[name])
    assert model.vector.since is since
