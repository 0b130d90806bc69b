"""The generator of SUB."""

from npu_conformance.corpus.generators import _arithmetic, _rejections
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.operands import int32


def vectors() -> Vectors:
    """Vectors like those of ADD; input 0 is the minuend, which broadcasting in either direction must not change."""
    yield from _arithmetic.floats("SUB")
    yield from _arithmetic.quantized("SUB")
    yield from _arithmetic.scales_far_apart("SUB")
    yield from _arithmetic.int32_row("SUB")
    yield _arithmetic.without_elements("SUB")
    yield from _arithmetic.int32_wraparound("SUB")
    yield from _arithmetic.int32_wide("SUB")
    yield from _rejections.arithmetic("SUB")
    yield _rejections.quantized_before("SUB", "1.1")
    yield from squares("SUB", rest={"activation": int32(0)})
