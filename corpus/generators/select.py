"""The generator of SELECT."""

import functools
import math

from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, Shape, all_bytes, stored_bytes, telling
from npu_conformance.corpus.generators._extrema import QUANTIZATIONS
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import WIDE, dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType


def vectors() -> Vectors:
    """Every type and rank, inputs quantised apart, conditions of every byte, values that must not be computed with."""
    yield from _plain()
    yield from _quantized()
    yield from _special()
    yield from _shapes()
    yield from _rejected()


def _inputs(condition: OperandSpec, one: OperandSpec, other: OperandSpec) -> Operands:
    return {"condition": condition, "input_true": one, "input_false": other}


def _condition(seed: int, shape: Shape) -> OperandSpec:
    return tensor(BOOL8, shape, integers(seed, shape, 0, 1))


def _plain() -> Vectors:
    for kind in (FLOAT32, FLOAT16, INT32):
        for seed, shape in enumerate((*RANKS, (2, 1, 3, 1, 2))):
            yield telling(seed, functools.partial(_random, kind, shape))


def _random(kind: OperandType, shape: Shape, seed: int) -> Vector:
    one, other = _numbers(kind, seed + 10, shape), _numbers(kind, seed + 20, shape)
    inputs = _inputs(_condition(seed, shape), tensor(kind, shape, one), tensor(kind, shape, other))
    return positive(f"{SHORT[kind]}_rank{len(shape)}", "SELECT", inputs, {"output": tensor(kind, shape)})


def _numbers(kind: OperandType, seed: int, shape: Shape) -> list[float]:
    if kind is INT32:
        return [int(value) for value in integers(seed, shape, -100, 100).ravel()]
    return [float(value) for value in dyadic(seed, shape).ravel()]


def _quantized() -> Vectors:
    """Pairwise type, rank and quantisation, each operand its own; then every stored value under either condition."""
    rows = pairwise({"type": [QUANT8, SIGNED], "shape": [(12,), (3, 4), (2, 1, 3, 2)], "quantization": QUANTIZATIONS})
    for seed, row in enumerate(rows):
        kind, shape = row["type"], row["shape"]
        shift = 128 if kind is SIGNED else 0
        data = stored_bytes(seed, shape, shift), stored_bytes(seed + 40, shape, shift)
        yield _of_bytes(
            f"rank{len(shape)}_{row['quantization']}", kind, shape, _condition(seed, shape), data, row["quantization"]
        )
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        condition = tensor(BOOL8, (32, 8), [position % 2 for position in range(256)])
        data = all_bytes(shift), all_bytes(shift)[128:] + all_bytes(shift)[:128]
        yield _of_bytes("every_value", kind, (32, 8), condition, data, "all_differ")
    one, other = (tensor(QUANT8, (3, 4), stored_bytes(seed, (3, 4), 0)) for seed in (71, 72))
    inputs, outputs = _inputs(_condition(73, (3, 4)), one, other), {"output": tensor(QUANT8, (3, 4))}
    yield from shared_quantization("SELECT", inputs, outputs, (0.5, 0.3, 0.7), (90, 150, 100))


def _of_bytes(
    name: str,
    kind: OperandType,
    shape: Shape,
    condition: OperandSpec,
    data: tuple[list[int], list[int]],
    quantization: str,
) -> Vector:
    shift = 128 if kind is SIGNED else 0
    scales, points = QUANTIZATIONS[quantization]
    one, other = (
        tensor(kind, shape, data[position], scale=scales[position], zero_point=points[position] - shift)
        for position in (0, 1)
    )
    return positive(
        f"{SHORT[kind]}_{name}",
        "SELECT",
        _inputs(condition, one, other),
        {"output": tensor(kind, shape, scale=scales[2], zero_point=points[2] - shift)},
        hazards=["operands-of-own-scale"],
    )


def _special() -> Vectors:
    for kind in (FLOAT32, FLOAT16):
        one = [math.inf, 1.5, math.nan, -0.0, -math.inf, math.nan, 65504.0, 2.0]
        other = [2.5, -math.inf, 3.0, 7.0, math.nan, -5.0, math.nan, -0.0]
        yield positive(
            f"{SHORT[kind]}_special_values",
            "SELECT",
            _inputs(tensor(BOOL8, (8,), [1, 0, 0, 1, 1, 1, 1, 0]), tensor(kind, (8,), one), tensor(kind, (8,), other)),
            {"output": tensor(kind, (8,))},
            description="what is not chosen leaves no trace, NaN and infinities included",
        )
    top, bottom = 2**31 - 1, -(2**31)
    yield positive(
        "int32_limits",
        "SELECT",
        _inputs(
            tensor(BOOL8, (4,), [1, 0, 0, 1]),
            tensor(INT32, (4,), [top, 0, 1, 2**24 + 1]),
            tensor(INT32, (4,), [0, bottom, -(2**24) - 1, 1]),
        ),
        {"output": tensor(INT32, (4,))},
        description="values are copied: float32 would round 2^24 + 1",
    )
    yield positive(
        "int32_wide",
        "SELECT",
        _inputs(tensor(BOOL8, (6,), [1, 0, 0, 1, 1, 0]), tensor(INT32, (6,), WIDE), tensor(INT32, (6,), WIDE[::-1])),
        {"output": tensor(INT32, (6,))},
        description="values are copied: float32 would round by more than one",
    )
    yield positive(
        "float32_condition_of_every_byte",
        "SELECT",
        _inputs(
            tensor(BOOL8, (32, 8), all_bytes(0)),
            tensor(FLOAT32, (32, 8), dyadic(1, (32, 8), 0.5, 4.0)),
            tensor(FLOAT32, (32, 8), dyadic(2, (32, 8), -4.0, -0.5)),
        ),
        {"output": tensor(FLOAT32, (32, 8))},
        description="every byte but 0 is true",
    )


def _shapes() -> Vectors:
    shape = (2, 3)
    one, other = _numbers(FLOAT32, 31, shape), _numbers(FLOAT32, 32, shape)
    yield positive(
        "float32_open_shapes",
        "SELECT",
        _inputs(
            tensor(BOOL8, (0, 3), [1, 0, 0, 1, 0, 1], shape=shape),
            tensor(FLOAT32, (), one, shape=shape),
            tensor(FLOAT32, (2, 0), other, shape=shape),
        ),
        {"output": tensor(FLOAT32, ())},
        description="the request brings the shapes",
    )
    yield positive(
        "float32_inputs_of_unknown_rank",
        "SELECT",
        _inputs(
            tensor(BOOL8, (), [1, 0, 0, 1, 0, 1], shape=shape),
            *(tensor(FLOAT32, (), numbers, shape=shape) for numbers in (one, other)),
        ),
        {"output": tensor(FLOAT32, shape)},
        description="the model has the shape of the output alone",
    )
    large = (1, 28, 28, 8)
    yield positive(
        "float32_realistic",
        "SELECT",
        _inputs(
            tensor(BOOL8, large, GeneratorDocument(kind="integers", seed=28, low=0, high=1)),
            tensor(FLOAT32, large, GeneratorDocument(kind="uniform", seed=29)),
            tensor(FLOAT32, large, GeneratorDocument(kind="uniform", seed=30)),
        ),
        {"output": tensor(FLOAT32, large)},
        description="a masked feature map",
    )


def _rejected() -> Vectors:
    """Shapes that would broadcast, outputs declared otherwise, types that do not fit."""
    for name, condition, one, other in (
        ("condition_of_lower_rank", (3,), (2, 3), (2, 3)),
        ("condition_of_one_element", (1,), (2, 3), (2, 3)),
        ("input_true_of_one_row", (2, 3), (1, 3), (2, 3)),
        ("input_false_of_one_row", (2, 3), (2, 3), (1, 3)),
        ("condition_transposed", (3, 2), (2, 3), (2, 3)),
    ):
        yield _rejected_shapes(name, condition, one, other, (2, 3) if name.startswith("condition") else condition, "C1")
    for name, declared in (("transposed", (3, 2)), ("of_higher_rank", (1, 2, 3)), ("too_small", (2, 2))):
        yield _rejected_shapes(f"output_declared_{name}", (2, 3), (2, 3), (2, 3), declared, "C3")
    for name, condition_type, one_type, other_type in (
        ("mixed_types", BOOL8, FLOAT32, INT32),
        ("condition_of_int32", INT32, FLOAT32, FLOAT32),
        ("of_bool8", BOOL8, BOOL8, BOOL8),
    ):
        yield rejected(
            name,
            "SELECT",
            _inputs(
                tensor(condition_type, (2,), [1, 0]), tensor(one_type, (2,), [1, 0]), tensor(other_type, (2,), [0, 1])
            ),
            {"output": tensor(one_type, (2,))},
            clause="MODEL.P3",
            since="1.2",
        )


def _rejected_shapes(name: str, condition: Shape, one: Shape, other: Shape, output: Shape, clause: str) -> Vector:
    inputs = _inputs(
        _condition(1, condition), tensor(FLOAT32, one, dyadic(2, one)), tensor(FLOAT32, other, dyadic(3, other))
    )
    return rejected(
        name,
        "SELECT",
        inputs,
        {"output": tensor(FLOAT32, output)},
        clause=f"SELECT.{clause}",
        hazards=["operands-of-own-scale"],
    )
