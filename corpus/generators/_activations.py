"""Vectors that LOGISTIC, TANH and the RELU family share."""

import math
from collections.abc import Sequence

from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, all_bytes, stored_bytes
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.vectors import Vector

Quantization = tuple[float, int]


def ranks(operation: str, low: float, high: float) -> Vectors:
    """Both float types in every rank, on either side of each limit; then all bits of a float32."""
    for kind in (FLOAT32, FLOAT16):
        for seed, shape in enumerate(RANKS):
            yield positive(
                f"{SHORT[kind]}_rank{len(shape)}",
                operation,
                {"input": tensor(kind, shape, dyadic(seed, shape, low, high))},
                {"output": tensor(kind, shape)},
            )
    yield positive(
        "float32_all_bits",
        operation,
        {"input": tensor(FLOAT32, (3, 7), uniform(5, (3, 7), low, high))},
        {"output": tensor(FLOAT32, (3, 7))},
        description="values that float16 arithmetic inside would round away",
    )


def special(operation: str, values: Sequence[float]) -> Vectors:
    """Both float types over values at which the operation's result is certain."""
    for kind in (FLOAT32, FLOAT16):
        yield positive(
            f"{SHORT[kind]}_special_values",
            operation,
            {"input": tensor(kind, (len(values),), values)},
            {"output": tensor(kind, (len(values),))},
        )


def tiny(operation: str) -> Vector:
    """Subnormals may be flushed, but must not turn into anything large."""
    values = [1e-40, -1e-40, 1.1754943508222875e-38, -1.401298464324817e-45, math.ldexp(1, -30), -0.75, 0.75]
    return positive(
        "float32_subnormals",
        operation,
        {"input": tensor(FLOAT32, (7,), values)},
        {"output": tensor(FLOAT32, (7,))},
    )


def every_byte(
    operation: str, inputs: Sequence[Quantization], output: Quantization | None, hazards: Sequence[str]
) -> Vectors:
    """All 256 stored values of both types, for each scale and (unsigned) zero point of the input.

    output: scale and unsigned zero point, or None where they are the input's.
    """
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for number, (scale, point) in enumerate(inputs):
            out_scale, out_point = output or (scale, point)
            yield positive(
                f"{SHORT[kind]}_every_value_{number}",
                operation,
                {"input": tensor(kind, (32, 8), all_bytes(shift), scale=scale, zero_point=point - shift)},
                {"output": tensor(kind, (32, 8), scale=out_scale, zero_point=out_point - shift)},
                hazards=hazards,
                description=f"scale {scale}, zero point {point - shift}",
            )


def quantized_ranks(operation: str, source: Quantization, output: Quantization | None) -> Vectors:
    """The quantised types in ranks 1, 3 and 4."""
    out_scale, out_point = output or source
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for seed, shape in enumerate((RANKS[0], RANKS[2], RANKS[3])):
            data = stored_bytes(seed, shape, shift)
            yield positive(
                f"{SHORT[kind]}_rank{len(shape)}",
                operation,
                {"input": tensor(kind, shape, data, scale=source[0], zero_point=source[1] - shift)},
                {"output": tensor(kind, shape, scale=out_scale, zero_point=out_point - shift)},
            )


def without_elements(operation: str, output: Quantization | None) -> Vectors:
    """A tensor without elements, in a float and a quantised type (since 1.2)."""
    shape = (0, 2, 2, 3)
    for kind, quantization in ((FLOAT32, (0.0, 0)), (QUANT8, (0.1, 128))):
        out_scale, out_point = quantization if output is None or kind is FLOAT32 else output
        yield zero_sized(
            f"{SHORT[kind]}_zero_sized",
            operation,
            tensor(kind, shape, scale=quantization[0], zero_point=quantization[1]),
            {"input": None},
            {"output": tensor(kind, shape, scale=out_scale, zero_point=out_point)},
        )
