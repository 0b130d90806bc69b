"""The plan of ADD."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.generators import _arithmetic, _rejections
from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every type, activation and way of broadcasting; scales far apart; wraparound of int32."""
    yield from _arithmetic.floats("ADD")
    yield from _arithmetic.quantized("ADD")
    yield from _arithmetic.scales_far_apart("ADD")
    yield from _arithmetic.same_operand_twice("ADD")
    yield from _arithmetic.int32_row("ADD")
    yield _arithmetic.without_elements("ADD")
    yield from _arithmetic.int32_wraparound("ADD")
    yield from _rejections.arithmetic("ADD")
