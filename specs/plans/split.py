"""The plan of SPLIT."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.plans._moves import FOUR, result, source
from npu_conformance.specs.plans.base import int32, positive
from npu_conformance.specs.vectors import Vector

CASES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "rank1": ((6,), 0, 3),
    "rank1_every_element": ((4,), 0, 4),
    "rank2_axis0": ((4, 3), 0, 2),
    "rank2_axis1": ((2, 6), 1, 3),
    "rank3_axis1": ((2, 4, 3), 1, 2),
    "rank4_axis2": ((1, 2, 6, 3), 2, 3),
    "rank4_axis3": ((2, 1, 3, 4), 3, 2),
    "axis_minus_one": ((3, 2, 4), -1, 2),
    "axis_minus_rank": ((4, 1, 2, 3), -4, 2),
    "one_part": ((2, 3), 1, 1),
}
"""Dimensions, axis, number of parts."""


def vectors() -> Iterator[Vector]:
    """Every type; every rank; axes counted from both ends."""
    for kind in (*FOUR, "int32"):
        for name, (dimensions, axis, parts) in CASES.items():
            part = list(dimensions)
            part[axis] //= parts
            yield positive(
                f"{kind}_{name}",
                "SPLIT",
                {"input": source(kind, dimensions), "axis": int32(axis), "parts": int32(parts)},
                {f"output{index}": result(kind, part) for index in range(parts)},
                since="1.2",
            )
