"""Vectors that the six comparisons share."""

import functools
import math

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHAPES, SHORT, Shape, all_bytes, telling
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

QUANTIZATIONS = {
    "equal": ((0.5, 0.5), (128, 128)),
    "zero_points": ((0.5, 0.5), (120, 140)),
    "scales": ((0.5, 0.25), (100, 60)),
    "all_differ": ((0.25, 0.75), (200, 30)),
}
"""Scales and (unsigned) zero points of the two inputs. Real values are dyadic, so that equal ones are certain."""

_SHAPES = {**SHAPES, "same": ((3, 4), (3, 4), (3, 4)), "row": ((3, 4), (4,), (3, 4))}
_TOP, _BOTTOM = 2**31 - 1, -(2**31)
_PAIRS: dict[str, tuple[OperandType, list[float], list[float], str]] = {
    "float32_infinities": (
        FLOAT32,
        [math.inf, -math.inf, math.inf, -math.inf, math.inf, -1.5],
        [math.inf, -math.inf, -math.inf, math.inf, 65504.0, -math.inf],
        "an infinity equals itself",
    ),
    "float16_infinities": (
        FLOAT16,
        [math.inf, -math.inf, math.inf, -math.inf, math.inf, -1.5],
        [math.inf, -math.inf, -math.inf, math.inf, 65504.0, -math.inf],
        "an infinity equals itself",
    ),
    "float32_zeros": (FLOAT32, [-0.0, 0.0, -0.0, 0.0, -0.0], [0.0, -0.0, -0.0, 1.0, -1.0], "-0 equals 0"),
    "float16_zeros": (FLOAT16, [-0.0, 0.0, -0.0, 0.0, -0.0], [0.0, -0.0, -0.0, 1.0, -1.0], "-0 equals 0"),
    "float32_nan": (
        FLOAT32,
        [math.nan, 1.0, math.nan, math.nan, -math.inf, 1.0, 2.0, 2.0],
        [math.nan, math.nan, 1.0, math.inf, math.nan, 2.0, 1.0, 2.0],
        "NaN is not equal to anything, nor less, nor greater, as IEEE 754 says",
    ),
    "float16_nan": (
        FLOAT16,
        [math.nan, 1.0, math.nan, math.nan, -math.inf, 1.0, 2.0, 2.0],
        [math.nan, math.nan, 1.0, math.inf, math.nan, 2.0, 1.0, 2.0],
        "NaN is not equal to anything, nor less, nor greater, as IEEE 754 says",
    ),
    "int32_limits": (
        INT32,
        [_TOP, _BOTTOM, _BOTTOM, _TOP, 2**24 + 1, -1, _BOTTOM, -(2**30) - 1],
        [_BOTTOM, _TOP, _BOTTOM, _TOP, 2**24, 1, 1, 2**30],
        "the sign of a difference would overflow; float32 would not tell 2^24 + 1 from 2^24",
    ),
    "int32_wide": (
        INT32,
        [123456789, 123456790, 2**30 + 33, 2**30 + 30, -(2**31) + 65, -(2**31) + 70, 123456789, -987654321],
        [123456790, 123456789, 2**30 + 30, 2**30 + 33, -(2**31) + 70, -(2**31) + 65, 123456789, -987654321],
        "float32 would not tell the first six pairs apart",
    ),
    "bool8_other_bytes": (
        BOOL8,
        [0, 2, 255, 0, 255, 128],
        [2, 0, 255, 255, 0, 128],
        "bytes other than 0 and 1, where it makes no difference whether bytes or truth values are compared",
    ),
}
"""Type, first and second input and what is special of vectors of rank 1."""


def vectors(operation: str) -> Vectors:
    """All vectors of one comparison."""
    yield from _plain(operation)
    yield from _quantized(operation)
    yield from _every_byte(operation)
    yield from _few_codes_broadcast(operation)
    yield from _special(operation)
    yield from _shapes(operation)
    yield from _rejections.binary(operation, activation=False, mismatch="C1", outputs="C3", result=BOOL8)
    yield _rejections.mixed_types(operation, activation=False, result=BOOL8)
    yield _result_of_the_input_type(operation)
    yield from squares(operation, result=BOOL8)


def _plain(operation: str) -> Vectors:
    """Pairwise type and broadcasting, over so few values that many are equal."""
    for seed, row in enumerate(pairwise({"type": [FLOAT32, FLOAT16, INT32, BOOL8], "shapes": list(SHAPES)})):
        yield telling(seed, functools.partial(_random, operation, row["type"], row["shapes"]))


def _random(operation: str, kind: OperandType, shapes: str, seed: int) -> Vector:
    first, second, output = SHAPES[shapes]
    return positive(
        f"{SHORT[kind]}_{shapes}",
        operation,
        _inputs(tensor(kind, first, _data(kind, seed, first)), tensor(kind, second, _data(kind, seed + 60, second))),
        {"output": tensor(BOOL8, output)},
    )


def _inputs(first: OperandSpec, second: OperandSpec) -> Operands:
    return {"input0": first, "input1": second}


def _data(kind: OperandType, seed: int, shape: Shape) -> list[float]:
    if kind in (INT32, BOOL8):
        low, high = (0, 1) if kind is BOOL8 else (-2, 2)
        return [int(value) for value in integers(seed, shape, low, high).ravel()]
    return [float(value) for value in dyadic(seed, shape, -1.0, 1.0, 0.5).ravel()]


def _quantized(operation: str) -> Vectors:
    """Real values near zero, of which many are equal though stored differently, and the limits of the type."""
    rows = pairwise(
        {"type": [QUANT8, SIGNED], "shapes": ["same", "row", "both", "rank4"], "quantization": list(QUANTIZATIONS)}
    )
    for seed, row in enumerate(rows):
        names = row["type"], row["shapes"], row["quantization"]
        yield telling(seed, functools.partial(_random_bytes, operation, *names))
    # Equal codes of different numbers, and equal numbers of different codes, whatever is shared.
    first = tensor(QUANT8, (12,), [90, 150, 100, 40, 200, 150, 0, 255, 120, 133, 150, 90])
    second = tensor(QUANT8, (12,), [150, 150, 160, 100, 140, 255, 60, 255, 120, 193, 150, 90])
    outputs = {"output": tensor(BOOL8, (12,))}
    yield from shared_quantization(operation, _inputs(first, second), outputs, (0.5, 0.3), (90, 150))


def _random_bytes(operation: str, kind: OperandType, shapes: str, quantization: str, seed: int) -> Vector:
    first, second, output = _SHAPES[shapes]
    scales, unsigned_points = QUANTIZATIONS[quantization]
    points = [point - (128 if kind is SIGNED else 0) for point in unsigned_points]
    data = _near(seed, first, points[0], kind), _near(seed + 40, second, points[1], kind)
    return positive(
        f"{SHORT[kind]}_{shapes}_{quantization}",
        operation,
        _inputs(
            tensor(kind, first, data[0], scale=scales[0], zero_point=points[0]),
            tensor(kind, second, data[1], scale=scales[1], zero_point=points[1]),
        ),
        {"output": tensor(BOOL8, output)},
        hazards=["compare-by-value"],
        excluded=[INTERNAL],
    )


def _near(seed: int, shape: Shape, zero_point: int, kind: OperandType) -> list[int]:
    values = [zero_point + int(value) for value in integers(seed, shape, -3, 3).ravel()]
    if len(values) > 4:
        shift = 128 if kind is SIGNED else 0
        values[0], values[-1] = -shift, 255 - shift
    return values


def _every_byte(operation: str) -> Vectors:
    """Every stored value against ones that are equal to it or half a quantum away: no rounding decides."""
    columns = (10, 255, 0, 65, 66, 33, 100, 201)
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        yield positive(
            f"{SHORT[kind]}_every_value",
            operation,
            _inputs(
                tensor(kind, (32, 8), all_bytes(shift), scale=0.25, zero_point=128 - shift),
                tensor(kind, (8,), [value - shift for value in columns], scale=0.125, zero_point=10 - shift),
            ),
            {"output": tensor(BOOL8, (32, 8))},
            hazards=["compare-by-value"],
            excluded=[INTERNAL],
        )


def _few_codes_broadcast(operation: str) -> Vectors:
    """Seven codes against themselves, those below and those above: with one scale for both, codes alone count."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        codes = [code - shift for code in (4, 33, 66, 100, 133, 200, 251)]
        scale, zero_point = 0.38945311307907104, 57 - shift
        against = [code + step for step in (-1, 0, 1) for code in codes]
        yield positive(
            f"{SHORT[kind]}_few_codes_broadcast",
            operation,
            _inputs(
                tensor(kind, (7,), codes, scale=scale, zero_point=zero_point),
                tensor(kind, (3, 7), against, scale=scale, zero_point=zero_point),
            ),
            {"output": tensor(BOOL8, (3, 7))},
            hazards=["compare-by-value"],
            excluded=[INTERNAL],
        )


def _special(operation: str) -> Vectors:
    for name, (kind, first, second, description) in _PAIRS.items():
        shape = (len(first),)
        yield positive(
            name,
            operation,
            _inputs(tensor(kind, shape, first), tensor(kind, shape, second)),
            {"output": tensor(BOOL8, shape)},
            hazards=["compare-by-value"] if kind is BOOL8 else [],
            description=description,
        )
    yield positive(
        "float32_neighbours",
        operation,
        _inputs(
            tensor(FLOAT32, (6,), [1.0, 1.0000001, -1.0, -1.0000001, 0.1, 100.00001]),
            tensor(FLOAT32, (6,), [1.0000001, 1.0, -1.0000001, -1.0, 0.1, 100.0]),
        ),
        {"output": tensor(BOOL8, (6,))},
        description="neighbours in float32, which float16 arithmetic takes for equal",
        excluded=["relaxed", INTERNAL],  # where an addition of 0 may lose the last bit
    )
    yield positive(
        "bool8_different_true_bytes",
        operation,
        _inputs(tensor(BOOL8, (3,), [1, 2, 255]), tensor(BOOL8, (3,), [2, 1, 1])),
        {"output": tensor(BOOL8, (3,))},
        hazards=["compare-by-value"],
        ignored=["output"],
        description="both true, stored differently: the documents do not say what is compared",
    )


def _shapes(operation: str) -> Vectors:
    first, second = (2, 1, 3, 1, 2), (1, 2, 1, 2, 1)
    yield positive(
        "float32_rank5",
        operation,
        _inputs(tensor(FLOAT32, first, _data(FLOAT32, 1, first)), tensor(FLOAT32, second, _data(FLOAT32, 2, second))),
        {"output": tensor(BOOL8, (2, 2, 3, 2, 2))},
        description="the operation sets no limit to the rank",
    )
    yield positive(
        "int32_open_shapes",
        operation,
        _inputs(
            tensor(INT32, (0, 3), _data(INT32, 3, (2, 3)), shape=(2, 3)),
            tensor(INT32, (), _data(INT32, 4, (2, 1)), shape=(2, 1)),
        ),
        {"output": tensor(BOOL8, ())},
        description="the request brings the shapes",
    )
    yield positive(
        "float32_realistic",
        operation,
        _inputs(
            tensor(FLOAT32, (1, 28, 28, 16), GeneratorDocument(kind="dyadic", seed=28, step=0.5)),
            constant(FLOAT32, (16,), _data(FLOAT32, 5, (16,))),
        ),
        {"output": tensor(BOOL8, (1, 28, 28, 16))},
        description="a mask over a feature map, with a constant threshold for each channel",
    )


def _result_of_the_input_type(operation: str) -> Vector:
    return rejected(
        "result_of_the_input_type",
        operation,
        _inputs(tensor(FLOAT32, (2,), [1.0, 2.0]), tensor(FLOAT32, (2,), [2.0, 1.0])),
        {"output": tensor(FLOAT32, (2,))},
        clause="MODEL.P3",
        since="1.2",
    )
