"""Seeded data."""

from collections.abc import Sequence
from typing import Any

import numpy

from npu_conformance.specs.documents.vectors import GeneratorDocument

Array = numpy.ndarray[Any, Any]

FAR_EXTREMES = GeneratorDocument(kind="integers", seed=7, low=-1_000_000_000, high=1_000_000_000)
"""Of 100001 int32 the two greatest and the smallest lie after the first 65536, and are unlike all others."""

WIDE = [123_456_789, 2**30 + 33, -(2**31) + 65, 2**31 - 65, 987_654_321, -123_456_787]
"""int32 that float32 rounds by more than the one by which results may be off."""


def dyadic(seed: int, dimensions: Sequence[int], low: float = -4.0, high: float = 4.0, step: float = 0.125) -> Array:
    """Seeded multiples of `step` (a power of two): small ones, and their sums, are exact in float16."""
    random = numpy.random.default_rng(seed)
    steps = random.integers(round(low / step), round(high / step), tuple(dimensions), endpoint=True)
    return numpy.asarray(steps * step)


def uniform(seed: int, dimensions: Sequence[int], low: float = -2.0, high: float = 2.0) -> Array:
    """Seeded floats that need all their bits."""
    return numpy.random.default_rng(seed).uniform(low, high, tuple(dimensions))


def integers(seed: int, dimensions: Sequence[int], low: int, high: int) -> Array:
    """Seeded integers in [low, high]."""
    return numpy.random.default_rng(seed).integers(low, high, tuple(dimensions), endpoint=True)
