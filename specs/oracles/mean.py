"""MEAN over axes: the exact mean, rounded once. (AOSP's CPU truncates quantised means: within one quantum.)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.specs.oracles.base import OracleOperand, Real, Result, Shape, indexes, present, stored


def mean(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: tensor, axes (negative ones count from the end, doubled ones once), keep_dims (positive: keep as 1)."""
    source, axes, keep = map(present, inputs)
    rank = len(source.dimensions)
    reduced = {axis % rank for axis in axes.integers}
    keeps = int(keep.scalar) > 0
    groups: dict[Shape, list[Real]] = {}
    for index in indexes(source.dimensions):
        rest = tuple(position for axis, position in enumerate(index) if axis not in reduced)
        groups.setdefault(rest, []).append(source.at(*index))
    kept = [1 if axis in reduced else size for axis, size in enumerate(source.dimensions)]
    shape = tuple(size for axis, size in enumerate(kept) if keeps or axis not in reduced) or (1,)
    return [Result(shape, [stored(_mean(values), outputs[0]) for values in groups.values()])]


def _mean(values: list[Real]) -> Real:
    if isinstance(values[0], Fraction):
        return sum((Fraction(value) for value in values), Fraction()) / len(values)
    return math.fsum(values) / len(values)
