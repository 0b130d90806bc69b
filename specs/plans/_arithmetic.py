"""Vectors that ADD, SUB, MUL and DIV share: activations, broadcasting, quantisation, corner shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.plans.base import (
    Planned,
    dyadic,
    int32,
    integers,
    pairwise,
    positive,
    tensor,
    uniform,
)
from npu_conformance.specs.vectors import Vector

FLOAT32 = OperandType.TENSOR_FLOAT32
FLOAT16 = OperandType.TENSOR_FLOAT16
INT32 = OperandType.TENSOR_INT32
QUANT8 = OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
SHORT = {FLOAT32: "float32", FLOAT16: "float16", INT32: "int32", QUANT8: "quant8", SIGNED: "quant8_signed"}

Shape = tuple[int, ...]
SHAPES: dict[str, tuple[Shape, Shape, Shape]] = {
    "same": ((2, 3), (2, 3), (2, 3)),
    "row": ((2, 3), (3,), (2, 3)),
    "column": ((2, 1), (2, 3), (2, 3)),
    "both": ((2, 1, 3), (4, 1), (2, 4, 3)),
    "first_is_one": ((1,), (2, 3, 1, 2), (2, 3, 1, 2)),
    "rank4": ((1, 2, 1, 3), (2, 1, 4, 1), (2, 2, 4, 3)),
}
"""First input, second input, output: asymmetric, so that a mix-up of axes shows."""


def operands(first: Planned, second: Planned, activation: int = 0) -> Mapping[str, Planned]:
    """The three inputs of an arithmetic operation."""
    return {"input0": first, "input1": second, "activation": int32(activation)}


def floats(operation: str, since: str) -> Iterator[Vector]:
    """Pairwise: type, activation, shapes; then data that needs every bit of a float32."""
    rows = pairwise({"type": [FLOAT32, FLOAT16], "activation": list(FusedActivation), "shapes": list(SHAPES)})
    for seed, row in enumerate(rows):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        yield positive(
            f"{SHORT[kind]}_{row['activation'].name.lower()}_{row['shapes']}",
            operation,
            operands(
                tensor(kind, first, dyadic(seed, first)),
                tensor(
                    kind, second, _divisors(seed + 100, second) if operation == "DIV" else dyadic(seed + 100, second)
                ),
                row["activation"],
            ),
            {"output": tensor(kind, output)},
            since=since,
            traps=[6],
        )
    yield positive(
        "float32_all_bits",
        operation,
        operands(tensor(FLOAT32, (3, 5), uniform(7, (3, 5))), tensor(FLOAT32, (3, 5), uniform(8, (3, 5), 0.5, 2.0))),
        {"output": tensor(FLOAT32, (3, 5))},
        since=since,
        description="values that float16 arithmetic inside would round away",
    )


def _divisors(seed: int, shape: Shape) -> list[float]:
    powers = integers(seed, shape, -2, 2).ravel()
    signs = integers(seed + 1, shape, 0, 1).ravel()
    return [float((-1.0) ** sign * 2.0**power) for sign, power in zip(signs, powers, strict=True)]


def quantized(operation: str, since: str) -> Iterator[Vector]:
    """Pairwise: type, activation, shapes, scales and zero points, with the limits of the type among the data."""
    quantizations = {
        "equal": ((0.5, 0.5, 0.5), (0, 0, 0)),
        "zero_points": ((0.5, 0.5, 1.0), (128, 3, 100)),
        "scales": ((0.25, 1.0, 0.75), (10, 120, 60)),
        "extremes": ((0.1, 0.7, 0.9), (255, 0, 128)),
    }
    parameters: Mapping[str, Iterable[Any]] = {
        "type": [QUANT8, SIGNED],
        "activation": list(FusedActivation),
        "shapes": list(SHAPES),
        "quantization": list(quantizations),
    }
    for seed, row in enumerate(pairwise(parameters)):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        scales, zero_points = quantizations[row["quantization"]]
        shift = 128 if kind is SIGNED else 0
        points = [point - shift for point in zero_points]
        yield positive(
            f"{SHORT[kind]}_{row['activation'].name.lower()}_{row['shapes']}_{row['quantization']}",
            operation,
            operands(
                tensor(kind, first, _bytes(seed, first, shift), scale=scales[0], zero_point=points[0]),
                tensor(kind, second, _bytes(seed + 50, second, shift), scale=scales[1], zero_point=points[1]),
                row["activation"],
            ),
            {"output": tensor(kind, output, scale=scales[2], zero_point=points[2])},
            since=since,
            traps=[6],
        )


def _bytes(seed: int, shape: Shape, shift: int) -> list[int]:
    values = [int(value) for value in integers(seed, shape, 0, 255).ravel()]
    if len(values) >= 4:
        values[0], values[-1] = 0, 255
    return [value - shift for value in values]


def int32_wraps(operation: str) -> Iterator[Vector]:
    """int32: broadcasting, negative numbers, and two's complement wraparound."""
    top, bottom = 2**31 - 1, -(2**31)
    yield positive(
        "int32_row",
        operation,
        operands(tensor(INT32, (2, 3), [-7, 5, 100000, 3, 0, -12]), tensor(INT32, (3,), [2, -3, 70000])),
        {"output": tensor(INT32, (2, 3))},
        traps=[9],
        since="1.3",
    )
    yield positive(
        "int32_wraparound",
        operation,
        operands(
            tensor(INT32, (5,), [top, bottom, bottom, 65537, top]), tensor(INT32, (5,), [1, -1, 1, 65537, bottom])
        ),
        {"output": tensor(INT32, (5,))},
        traps=[9],
        since="1.3",
    )


def corner_shapes(operation: str) -> Iterator[Vector]:
    """One element; the same operand on both sides of a rank difference of three."""
    yield positive(
        "float32_one_element",
        operation,
        operands(tensor(FLOAT32, (1,), [1.5]), tensor(FLOAT32, (1, 1, 1, 1), [-0.25])),
        {"output": tensor(FLOAT32, (1, 1, 1, 1))},
        since="1.1" if operation in ("SUB", "DIV") else "1.0",
    )


def multiplier_limits(operation: str) -> Iterator[Vector]:
    """ADD and SUB: the output's scale must exceed 2*max(s0, s1)/2^20 (trap 7)."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        yield positive(
            f"{SHORT[kind]}_scales_far_apart",
            operation,
            operands(
                tensor(
                    kind, (2, 3), [n - shift for n in (0, 90, 255, 128, 17, 200)], scale=1.0, zero_point=100 - shift
                ),
                tensor(kind, (3,), [n - shift for n in (255, 0, 61)], scale=0.001, zero_point=5 - shift),
            ),
            {"output": tensor(kind, (2, 3), scale=0.8, zero_point=120 - shift)},
            traps=[7],
            since="1.2" if operation == "SUB" else "1.0",
        )
