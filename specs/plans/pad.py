"""The plan of PAD."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.plans._moves import FOUR, INT32, result, source
from npu_conformance.specs.plans.base import Planned, constant, positive
from npu_conformance.specs.vectors import Vector

CASES: dict[str, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]] = {
    "rank1": ((3,), ((1, 2),)),
    "rank1_before": ((3,), ((2, 0),)),
    "rank2": ((2, 3), ((0, 2), (1, 0))),
    "rank3": ((2, 1, 3), ((1, 0), (2, 3), (0, 1))),
    "rank4_spatial": ((1, 2, 3, 2), ((0, 0), (1, 2), (3, 0), (0, 0))),
    "rank4_every_axis": ((2, 1, 2, 3), ((1, 0), (0, 1), (2, 1), (1, 2))),
    "rank4_none": ((2, 1, 2, 3), ((0, 0), (0, 0), (0, 0), (0, 0))),
}
"""Dimensions, and how many elements before and after on each axis."""


def paddings(pairs: tuple[tuple[int, int], ...]) -> Planned:
    """The constant paddings operand [rank, 2]."""
    return constant(INT32, (len(pairs), 2), pairs)


def padded(dimensions: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Dimensions of the output."""
    return tuple(before + size + after for size, (before, after) in zip(dimensions, pairs, strict=True))


def vectors() -> Iterator[Vector]:
    """Every type and rank, heads and tails different; zero points at both ends, and 0 before version 1.2."""
    for kind in FOUR:
        for name, (dimensions, pairs) in CASES.items():
            yield _vector(f"{kind}_{name}", kind, dimensions, pairs, zero_point=9)
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 128, 255):
            yield _vector(f"{kind}_zero_point_{zero_point}", kind, *CASES["rank2"], zero_point=zero_point)


def _vector(
    name: str, kind: str, dimensions: tuple[int, ...], pairs: tuple[tuple[int, int], ...], zero_point: int
) -> Vector:
    needs_zero_point = kind == "quant8" and zero_point != 0
    return positive(
        name,
        "PAD",
        {"input": source(kind, dimensions, zero_point=zero_point), "paddings": paddings(pairs)},
        {"output": result(kind, padded(dimensions, pairs), zero_point=zero_point)},
        since="1.2" if needs_zero_point else "1.1",
        traps=[22],
    )
