"""Arithmetic, comparisons and activations."""

from __future__ import annotations

from typing import Any

from tflite_files import Graph

from tflite_cases.common import F2, F4, Q, case, weights


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
binary("SQUARED_DIFFERENCE", "SquaredDifference", dtype="INT32", suffix=".int32")


@case("SQUARED_DIFFERENCE.INT8")
def squared_difference_of_bytes(graph: Graph) -> int:
    given = [graph.input("INT8", (3, 4), 0.05, 3), graph.input("INT8", (4,), 0.04, -5)]
    return graph.operator("SQUARED_DIFFERENCE", given, ("INT8", (3, 4), 0.5, -128), "SquaredDifference")


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
