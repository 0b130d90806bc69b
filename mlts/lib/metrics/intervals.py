"""95 % confidence intervals: of fractions, by Wilson; of means, by the bootstrap with a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

CONFIDENCE = 0.95
QUANTILE = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
"""1.96: how many standard deviations the interval of a normal distribution reaches to either side."""
_RESAMPLES = 2000
_SEED = 0
_BLOCK = 1 << 22
"""The most elements that are resampled at once."""


@dataclass(frozen=True)
class Interval:
    """An interval from low to high, both included."""

    low: float
    high: float


def wilson(hits: int, count: int) -> Interval:
    """The score interval of a fraction: hits of count.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927). Raises
    ValueError unless 0 <= hits <= count and count > 0.
    """
    if not 0 <= hits <= count or not count:
        raise ValueError(f"{hits} of {count} is no fraction")
    share, square = hits / count, QUANTILE**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    reach = QUANTILE / (1 + square / count) * (share * (1 - share) / count + square / (4 * count**2)) ** 0.5
    # Of none and of all the bound is exactly 0 and 1, whatever rounding says.
    low = 0.0 if hits == 0 else max(middle - reach, 0.0)
    return Interval(low, 1.0 if hits == count else min(middle + reach, 1.0))


def bootstrap(values: Array) -> Interval:
    """The percentile interval of the mean of values [count], from 2000 resamples of as many values, put back.

    B. Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 7 (1979). Raises ValueError without
    values.
    """
    if values.ndim != 1 or not values.size:
        raise ValueError(f"expected values [count], found {values.shape}")
    random, reals = numpy.random.default_rng(_SEED), values.astype(numpy.float64)
    rows = max(_BLOCK // values.size, 1)
    found: list[Array] = []
    for start in range(0, _RESAMPLES, rows):
        drawn = reals[random.integers(0, values.size, (min(rows, _RESAMPLES - start), values.size))]
        found.append(drawn.mean(axis=1))
    low, high = numpy.quantile(numpy.concatenate(found), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))
