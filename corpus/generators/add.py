"""The generator of ADD."""

from npu_conformance.corpus.generators import _arithmetic, _rejections
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.operands import int32


def vectors() -> Vectors:
    """Every type, activation and way of broadcasting; scales far apart; wraparound of int32."""
    yield from _arithmetic.floats("ADD")
    yield from _arithmetic.quantized("ADD")
    yield from _arithmetic.scales_far_apart("ADD")
    yield from _arithmetic.same_operand_twice("ADD")
    yield from _arithmetic.int32_row("ADD")
    yield _arithmetic.without_elements("ADD")
    yield from _arithmetic.int32_wraparound("ADD")
    yield from _arithmetic.int32_wide("ADD")
    yield from _rejections.arithmetic("ADD")
    yield from squares("ADD", rest={"activation": int32(0)})
