"""Convolutions, pools and FULLY_CONNECTED."""

from __future__ import annotations

from typing import Any

from tflite_files import NONE, Graph

from tflite_cases.common import F2, F4, Q, bytes_of, case, weights


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
