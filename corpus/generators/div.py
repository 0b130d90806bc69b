"""The generator of DIV."""

from npu_conformance.corpus.generators import _arithmetic, _rejections
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32
from npu_conformance.corpus.vectors import Vector


def vectors() -> Vectors:
    """Float types, activations and broadcasting; int32 rounds down; division by zero must not crash."""
    yield from _arithmetic.floats("DIV")
    yield from _arithmetic.int32_row("DIV")
    yield _arithmetic.without_elements("DIV")
    yield _rounds_down()
    yield from _arithmetic.int32_wide("DIV")
    yield _extremes()
    yield from _by_zero()
    yield from _rejections.arithmetic("DIV")
    yield _rejections.quantized_before("DIV", "fl8")
    yield from squares("DIV", rest={"activation": int32(0)})


def _rounds_down() -> Vector:
    top, bottom = 2**31 - 1, -(2**31)
    first = [-5, 5, -5, 5, -6, 0, top, bottom, -1]
    second = [2, -2, -2, 2, 3, -7, -2, 2, top]
    return positive(
        "int32_rounds_down",
        "DIV",
        _arithmetic.operands(tensor(INT32, (9,), first), tensor(INT32, (9,), second)),
        {"output": tensor(INT32, (9,))},
        hazards=["int32-arithmetic"],
        description="-5 / 2 is -3, in every combination of signs, and at the limits of the type",
    )


def _extremes() -> Vector:
    """Operands near the limits of the type; no operand, quotient or reciprocal is subnormal."""
    first = [3e38, 1e30, 2.0**120, 1e-30, 1e37, -3e38, 1e-37, 2.0**-100, 5e36, -1e20]
    second = [1.5, 1e-5, 2.0**100, 1e6, 1e37, 1e10, 1e-37, 2.0**-120, -1e-1, -1e-17]
    shape = (len(first),)
    return positive(
        "float32_extremes",
        "DIV",
        _arithmetic.operands(tensor(FLOAT32, shape, first), tensor(FLOAT32, shape, second)),
        {"output": tensor(FLOAT32, shape)},
        description="quotients from 1e-36 to 2e38 of large and of small numbers",
        excluded=["float16", "relaxed"],
    )


def _by_zero() -> Vectors:
    """The contract leaves the result open: only the shape is compared, and that the device lives."""
    for kind in (FLOAT32, FLOAT16, INT32):
        first, second = [3, -3, 0, 7, 1, -1], [0, 0, 0, 2, 0, -2]
        yield positive(
            f"{SHORT[kind]}_by_zero",
            "DIV",
            _arithmetic.operands(tensor(kind, (2, 3), first), tensor(kind, (2, 3), second)),
            {"output": tensor(kind, (2, 3))},
            hazards=["int32-arithmetic"] if kind is INT32 else ["float-division-by-zero"],
            ignored=["output"],
        )
