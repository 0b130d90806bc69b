"""The plan of ADD."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.plans import _arithmetic
from npu_conformance.specs.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Every type, activation and way of broadcasting; limits of the multipliers; wraparound of int32."""
    yield from _arithmetic.floats("ADD", since="1.0")
    yield from _arithmetic.quantized("ADD", since="1.0")
    yield from _arithmetic.int32_wraps("ADD")
    yield from _arithmetic.corner_shapes("ADD")
    yield from _arithmetic.multiplier_limits("ADD")
