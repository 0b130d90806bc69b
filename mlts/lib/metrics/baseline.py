"""Whether a device is worse than its baseline on the same items, by more than a stated margin (ML-ACC-008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy

from npu_conformance.mlts.lib.metrics.intervals import QUANTILE, Interval, bootstrap

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

Verdict = Literal["not worse", "undecided", "worse"]


@dataclass(frozen=True)
class AgainstBaseline:
    """A device beside its baseline.

    difference: device less baseline, above 0 where the device is better. interval: 95 % confidence of it. margin: by
    how much the device may be worse. verdict: `not worse` where the whole interval is above -margin, `worse` where it
    is wholly below, `undecided` where it is on both sides: there are too few items to tell.
    """

    difference: float
    interval: Interval
    margin: float
    items: int
    verdict: Verdict

    @property
    def is_worse(self) -> bool:
        """True where the device is worse by more than the margin: what a test may fail for."""
        return self.verdict == "worse"


def correctness_against(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    """Shares of right answers. device, baseline: whether each item is right [items], in the same order.

    The interval is that of a difference of paired proportions, with one item added to each kind of disagreement:
    D. G. Bonett and R. M. Price, Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data, Journal of Educational and Behavioral Statistics 37 (2012). That both are right or wrong on the same
    items makes it narrow; it is never empty, since few items without disagreement prove little.
    """
    _check(device, baseline, margin)
    right, reference = device.astype(bool), baseline.astype(bool)
    count, better, worse = len(right), int((right & ~reference).sum()), int((~right & reference).sum())
    gained, lost = (better + 1) / (count + 2), (worse + 1) / (count + 2)
    reach = QUANTILE * ((gained + lost - (gained - lost) ** 2) / (count + 2)) ** 0.5
    middle = gained - lost
    interval = Interval(max(middle - reach, -1.0), min(middle + reach, 1.0))
    return _judged((better - worse) / count, interval, margin, count)


def mean_against(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    """Means of a number that is better the larger it is, such as minus an error. device, baseline: [items], paired.

    The interval is that of the bootstrap of the differences.
    """
    _check(device, baseline, margin)
    differences = device.astype(numpy.float64) - baseline.astype(numpy.float64)
    if not numpy.isfinite(differences).all():
        raise ValueError("a difference is not finite")
    return _judged(float(differences.mean()), bootstrap(differences), margin, len(differences))


def _judged(difference: float, interval: Interval, margin: float, items: int) -> AgainstBaseline:
    verdict: Verdict = "undecided"
    if interval.low >= -margin:
        verdict = "not worse"
    elif interval.high < -margin:
        verdict = "worse"
    return AgainstBaseline(difference, interval, margin, items, verdict)


def _check(device: Array, baseline: Array, margin: float) -> None:
    if device.shape != baseline.shape or device.ndim != 1 or not device.size:
        raise ValueError(f"expected two arrays [items] of one length, found {device.shape} and {baseline.shape}")
    if not margin >= 0:
        raise ValueError(f"expected a margin from 0 up, found {margin}")
