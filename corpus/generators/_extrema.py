"""Vectors that MAXIMUM and MINIMUM share."""

import math

from npu_conformance.corpus.generators._elementwise import SHAPES, SHORT, stored_bytes
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import WIDE, dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.specs.neuralnetworks.enums import OperandType

QUANTIZATIONS = {
    "equal": ((0.5, 0.5, 0.5), (7, 7, 7)),
    "output_differs": ((0.5, 0.5, 0.8), (128, 128, 90)),
    "all_differ": ((0.5, 1.0, 0.8), (150, 100, 110)),
    "saturating": ((1.0, 0.75, 0.6), (128, 100, 120)),
}
"""Scales and (unsigned) zero points of the two inputs and the output (hazard operands-of-own-scale)."""

_SHAPES = {**SHAPES, "same": ((3, 4), (3, 4), (3, 4)), "row": ((3, 4), (4,), (3, 4))}


def vectors(operation: str) -> Vectors:
    """All vectors of one of the two."""
    yield from _plain(operation)
    yield from _quantized(operation)
    yield from _special(operation)
    yield from squares(operation)


def _plain(operation: str) -> Vectors:
    for seed, row in enumerate(pairwise({"type": [FLOAT32, FLOAT16, INT32], "shapes": list(SHAPES)})):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        yield positive(
            f"{SHORT[kind]}_{row['shapes']}",
            operation,
            {
                "input0": tensor(kind, first, _data(kind, seed, first)),
                "input1": tensor(kind, second, _data(kind, seed + 60, second)),
            },
            {"output": tensor(kind, output)},
        )


def _data(kind: OperandType, seed: int, shape: tuple[int, ...]) -> list[float]:
    if kind is INT32:
        return [int(value) for value in integers(seed, shape, -100, 100).ravel()]
    return [float(value) for value in dyadic(seed, shape).ravel()]


def _quantized(operation: str) -> Vectors:
    rows = pairwise(
        {"type": [QUANT8, SIGNED], "shapes": ["same", "row", "both", "rank4"], "quantization": list(QUANTIZATIONS)}
    )
    for seed, row in enumerate(rows):
        kind, (first, second, output) = row["type"], _SHAPES[row["shapes"]]
        scales, unsigned_points = QUANTIZATIONS[row["quantization"]]
        shift = 128 if kind is SIGNED else 0
        points = [point - shift for point in unsigned_points]
        data = stored_bytes(seed, first, shift), stored_bytes(seed + 40, second, shift)
        yield positive(
            f"{SHORT[kind]}_{row['shapes']}_{row['quantization']}",
            operation,
            {
                "input0": tensor(kind, first, data[0], scale=scales[0], zero_point=points[0]),
                "input1": tensor(kind, second, data[1], scale=scales[1], zero_point=points[1]),
            },
            {"output": tensor(kind, output, scale=scales[2], zero_point=points[2])},
            hazards=["operands-of-own-scale"],
        )
    inputs = {f"input{index}": tensor(QUANT8, (3, 4), stored_bytes(71 + index, (3, 4), 0)) for index in range(2)}
    outputs = {"output": tensor(QUANT8, (3, 4))}
    yield from shared_quantization(operation, inputs, outputs, (0.5, 0.3, 0.7), (90, 150, 100))


def _special(operation: str) -> Vectors:
    top, bottom = 2**31 - 1, -(2**31)
    first, second = [top, bottom, -1, 0, 2**24 + 1], [bottom, top, 1, 0, 2**24]
    yield positive(
        "int32_limits",
        operation,
        {"input0": tensor(INT32, (5,), first), "input1": tensor(INT32, (5,), second)},
        {"output": tensor(INT32, (5,))},
        description="a comparison in float32 would not tell 2^24 + 1 from 2^24",
    )
    yield positive(
        "int32_wide",
        operation,
        {"input0": tensor(INT32, (6,), WIDE), "input1": tensor(INT32, (6,), [one - 5 for one in WIDE[:3]] + WIDE[:3])},
        {"output": tensor(INT32, (6,))},
        description="float32 would round by more than one",
    )
    infinite, finite = [math.inf, -math.inf, math.inf, -math.inf], [1.5, 2.5, -math.inf, -3.5]
    for kind in (FLOAT32, FLOAT16):
        yield positive(
            f"{SHORT[kind]}_infinities",
            operation,
            {"input0": tensor(kind, (4,), infinite), "input1": tensor(kind, (4,), finite)},
            {"output": tensor(kind, (4,))},
        )
    shapes = (2, 1, 3, 1, 2), (1, 2, 1, 2, 1)
    yield positive(
        "float32_rank5",
        operation,
        {
            "input0": tensor(FLOAT32, shapes[0], uniform(1, shapes[0])),
            "input1": tensor(FLOAT32, shapes[1], uniform(2, shapes[1])),
        },
        {"output": tensor(FLOAT32, (2, 2, 3, 2, 2))},
        description="the operation sets no limit to the rank",
    )
