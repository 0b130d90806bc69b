"""The generator of MUL."""

from npu_conformance.corpus.generators import _arithmetic, _rejections
from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.operands import int32, tensor
from npu_conformance.corpus.generators.types import QUANT8, SIGNED


def vectors() -> Vectors:
    """Every type, activation and way of broadcasting; a multiplier just below 1; wraparound of int32."""
    yield from _arithmetic.floats("MUL")
    yield from _arithmetic.quantized("MUL")
    yield from _multiplier_near_one()
    yield from _arithmetic.same_operand_twice("MUL")
    yield from _arithmetic.int32_row("MUL")
    yield _arithmetic.without_elements("MUL")
    yield from _arithmetic.int32_wraparound("MUL")
    yield from _arithmetic.int32_wide("MUL")
    yield from _rejections.arithmetic("MUL")
    yield from _output_scale()
    yield from squares("MUL", rest={"activation": int32(0)})


def _multiplier_near_one() -> Vectors:
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        first, second = (
            [element - shift for element in (0, 7, 12, 3, 20, 10)],
            [element - shift for element in (9, 4, 11)],
        )
        yield positive(
            f"{SHORT[kind]}_multiplier_near_one",
            "MUL",
            _arithmetic.operands(
                tensor(kind, (2, 3), first, scale=0.5, zero_point=10 - shift),
                tensor(kind, (3,), second, scale=1.0, zero_point=5 - shift),
            ),
            {"output": tensor(kind, (2, 3), scale=0.500001, zero_point=100 - shift)},
            hazards=["mul-scale-product"],
            description="the output's scale is hardly more than the product of the inputs'",
        )


def _output_scale() -> Vectors:
    """Outputs whose scale equals the product of the inputs' scales, and is smaller."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for name, scale in (("equal", 0.125), ("smaller", 0.0625)):
            yield rejected(
                f"{SHORT[kind]}_output_scale_{name}",
                "MUL",
                _arithmetic.operands(
                    tensor(kind, (2, 3), stored_bytes(1, (2, 3), shift), scale=0.5, zero_point=10 - shift),
                    tensor(kind, (3,), stored_bytes(2, (3,), shift), scale=0.25, zero_point=5 - shift),
                ),
                {"output": tensor(kind, (2, 3), scale=scale, zero_point=100 - shift)},
                clause="MUL.C7",
                hazards=["mul-scale-product"],
            )
