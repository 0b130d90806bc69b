"""From samples to a Measurement: median with its interval, percentiles, histogram; and how long to sample."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy

from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.metrics.intervals import QUANTILE
from npu_conformance.specs.documents.results import Measurement

Clock = Callable[[], float]
"""Seconds that never go back."""
monotonic: Clock = time.perf_counter

_PERCENTILES = (0, 5, 25, 50, 75, 90, 95, 99, 100)
_BUCKETS = 32
"""As many as MLTS has."""
_LEAST_FOR_INTERVAL = 6
_MILLISECONDS = 1000.0


@dataclass(frozen=True)
class Budget:
    """How long to sample: seconds without counting, seconds that count, and the least and largest number of samples."""

    warm_up: float
    run: float
    least: int = 5
    most: int = 100_000


_BUDGETS = {Scope.SMOKE: Budget(0.02, 0.08), Scope.DEFAULT: Budget(0.03, 0.15), Scope.FULL: Budget(2.0, 10.0)}
"""The full scope's are MLTS's own (ML-LAT-002)."""


def budget_of(context: CaseContext) -> Budget:
    """How long to sample in the scope of a run, and by its --time-scale."""
    usual, scale = _BUDGETS[context.scope], context.duration_scale
    return replace(usual, warm_up=usual.warm_up * scale, run=usual.run * scale)


def samples(budget: Budget, step: Callable[[], float]) -> list[float]:
    """What steps took, in seconds: until the budget's run time is spent, or its largest number of steps is reached."""
    found, spent = list[float](), 0.0
    while len(found) < budget.least or (spent < budget.run and len(found) < budget.most):
        found.append(step())
        spent += found[-1]
    return found


def of_seconds(subject: str, name: str, samples: Sequence[float], beside: str = "") -> Measurement:
    """The distribution of durations, which are in seconds, as milliseconds."""
    return distribution(subject, name, [_MILLISECONDS * sample for sample in samples], beside)


def distribution(subject: str, name: str, samples: Sequence[float], beside: str = "") -> Measurement:
    """The median of samples in milliseconds, of which there is at least one, and how they are spread."""
    ordered = sorted(samples)
    low, high = _median_interval(ordered)
    found = numpy.percentile(ordered, _PERCENTILES).tolist()
    percentiles = dict(zip(map(str, _PERCENTILES), found, strict=True))
    return Measurement(
        subject=subject,
        name=name,
        unit="ms",
        value=percentiles["50"],
        low=low,
        high=high,
        count=len(ordered),
        percentiles=percentiles,
        buckets=_histogram(ordered),
        mean=statistics.fmean(ordered),
        deviation=statistics.pstdev(ordered),
        beside=beside,
    )


def _median_interval(ordered: Sequence[float]) -> tuple[float | None, float | None]:
    """The 95 % interval of the median, whatever the distribution: the samples at the ranks that a binomial gives.

    Without one below six samples: not even their least and largest enclose the median as surely as that.
    """
    count = len(ordered)
    if count < _LEAST_FOR_INTERVAL:
        return None, None
    half = QUANTILE * math.sqrt(count) / 2
    upper = min(math.ceil(count / 2 + half), count - 1)
    return ordered[count - 1 - upper], ordered[upper]


def _histogram(ordered: Sequence[float]) -> tuple[tuple[float, int], ...]:
    """Buckets of equal width from the least to the largest sample; one bucket where all are equal."""
    least, width = ordered[0], (ordered[-1] - ordered[0]) / _BUCKETS
    if width <= 0.0:
        return ((least, len(ordered)),)
    counts = [0] * _BUCKETS
    for sample in ordered:
        counts[min(int((sample - least) / width), _BUCKETS - 1)] += 1
    return tuple((least + number * width, count) for number, count in enumerate(counts))
