"""Confidence intervals: tables of others, coverage by simulation, and verdicts against a baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from npu_conformance.mlts.lib.metrics import intervals
from npu_conformance.mlts.lib.metrics.baseline import AgainstBaseline, correctness_against, mean_against
from npu_conformance.mlts.lib.metrics.intervals import QUANTILE, Interval

Array = numpy.ndarray[Any, Any]


def check_wilson(wilson: Callable[[int, int], Interval]) -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    for hits, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        found = wilson(hits, count)
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert (wilson(1, 29).low, wilson(1, 29).high) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(0, 3).low == 0.0
    assert wilson(3, 3).high == 1.0
    mirrored = wilson(18, 20)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((wilson(2, 20).low, wilson(2, 20).high))


def wald(hits: int, count: int) -> Interval:
    share = hits / count
    reach = QUANTILE * (share * (1 - share) / count) ** 0.5
    return Interval(share - reach, share + reach)


def ninety_percent(hits: int, count: int) -> Interval:
    right = intervals.wilson(hits, count)
    middle, reach = (right.low + right.high) / 2, (right.high - right.low) / 2 * 1.645 / 1.96
    return Interval(middle - reach, middle + reach)


@pytest.mark.parametrize("twin", [wald, ninety_percent])
def test_wilson_and_its_wrong_twins(twin: Callable[[int, int], Interval]) -> None:
    check_wilson(intervals.wilson)
    with pytest.raises(AssertionError):
        check_wilson(twin)


@pytest.mark.parametrize(("hits", "count"), [(-1, 5), (6, 5), (0, 0)])
def test_no_fraction(hits: int, count: int) -> None:
    with pytest.raises(ValueError, match="is no fraction"):
        intervals.wilson(hits, count)


def check_bootstrap(bootstrap: Callable[..., Interval]) -> None:
    values = numpy.random.default_rng(3).normal(10.0, 2.0, 400)
    found = bootstrap(values)
    # By the central limit theorem: the mean and 1.96 standard errors, of the population's deviation.
    reach = QUANTILE * values.std() / 20
    assert (found.low, found.high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.03)
    assert bootstrap(numpy.full(5, 3.0)) == Interval(3.0, 3.0)
    assert bootstrap(numpy.array([7.0])) == Interval(7.0, 7.0)


def without_putting_back(values: Array) -> Interval:
    """Each resample is the values in another order: the mean never changes."""
    return Interval(float(values.mean()), float(values.mean()))


def of_the_values(values: Array) -> Interval:
    """The spread of the values, not that of their mean."""
    return Interval(*map(float, numpy.quantile(values, [0.025, 0.975])))


@pytest.mark.parametrize("twin", [without_putting_back, of_the_values])
def test_bootstrap_and_its_wrong_twins(twin: Callable[..., Interval]) -> None:
    check_bootstrap(intervals.bootstrap)
    with pytest.raises(AssertionError):
        check_bootstrap(twin)


def test_bootstrap_of_the_same_values_is_the_same() -> None:
    values = numpy.arange(50.0)
    assert intervals.bootstrap(values) == intervals.bootstrap(values)


def test_bootstrap_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = numpy.arange(50.0)
    whole = intervals.bootstrap(values)
    monkeypatch.setattr(intervals, "_BLOCK", 333)
    assert intervals.bootstrap(values) == whole


@pytest.mark.parametrize("values", [numpy.zeros(0), numpy.zeros((2, 2))])
def test_bootstrap_without_values(values: Array) -> None:
    with pytest.raises(ValueError, match="expected values"):
        intervals.bootstrap(values)


def paired(both: int, gained: int, lost: int, neither: int) -> tuple[Array, Array]:
    """Which items a device and its baseline have right."""
    device = [True] * (both + gained) + [False] * (lost + neither)
    baseline = [True] * both + [False] * gained + [True] * lost + [False] * neither
    return numpy.array(device), numpy.array(baseline)


Judge = Callable[[Array, Array, float], AgainstBaseline]


def check_correctness(judge: Judge) -> None:
    found = judge(*paired(90, 1, 5, 4), 0.05)
    # By hand: 2/102 and 6/102; difference -4/102, sqrt((8 - 16/102) / 102 / 102) = 0.027450.
    assert found.difference == pytest.approx(-0.04)
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.093017, 0.014586), abs=2e-5)
    assert (found.items, found.verdict) == (100, "undecided")
    assert judge(*paired(900, 10, 12, 78), 0.05).verdict == "not worse"
    assert judge(*paired(700, 10, 120, 170), 0.05).verdict == "worse"
    assert judge(*paired(700, 120, 10, 170), 0.0).verdict == "not worse"
    # Many items that both have wrong say nothing against the device.
    assert judge(*paired(300, 5, 5, 690), 0.02).verdict == "not worse"
    assert judge(*paired(3, 0, 0, 0), 0.05).verdict == "undecided"


def unpaired(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    """Two samples that have nothing to do with each other: the interval is too wide."""
    count, shares = len(device), (device.mean(), baseline.mean())
    reach = QUANTILE * sum(share * (1 - share) / count for share in shares) ** 0.5
    difference = float(shares[0] - shares[1])
    low, high = difference - reach, difference + reach
    verdict: Any = "not worse" if low >= -margin else "worse" if high < -margin else "undecided"
    return AgainstBaseline(difference, Interval(low, high), margin, count, verdict)


def by_the_difference_alone(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    right = correctness_against(device, baseline, margin)
    verdict: Any = "not worse" if right.difference >= -margin else "worse"
    return AgainstBaseline(right.difference, right.interval, margin, right.items, verdict)


def the_other_way_round(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    return correctness_against(baseline, device, margin)


def without_margin(device: Array, baseline: Array, margin: float) -> AgainstBaseline:
    return correctness_against(device, baseline, 0.0)


@pytest.mark.parametrize("twin", [unpaired, by_the_difference_alone, the_other_way_round, without_margin])
def test_correctness_and_its_wrong_twins(twin: Judge) -> None:
    check_correctness(correctness_against)
    with pytest.raises(AssertionError):
        check_correctness(twin)


def test_the_interval_of_paired_proportions_covers_the_truth() -> None:
    """Of 2000 experiments with a true difference of -0.03, about 95 % of the intervals hold it."""
    random = numpy.random.default_rng(11)
    kinds = random.choice(4, size=(2000, 150), p=[0.8, 0.04, 0.07, 0.09])
    covered = 0
    for kind in kinds:
        found = correctness_against(kind <= 1, (kind == 0) | (kind == 2), 0.05)
        covered += found.interval.low <= -0.03 <= found.interval.high
    assert 0.935 <= covered / len(kinds) <= 0.975


def test_means_of_paired_items() -> None:
    random = numpy.random.default_rng(5)
    baseline = random.normal(0.0, 10.0, 200)
    near, far = baseline - 0.1 + random.normal(0.0, 0.1, 200), baseline - 2.0 + random.normal(0.0, 0.1, 200)
    assert mean_against(near, baseline, 0.5).verdict == "not worse"
    assert mean_against(far, baseline, 0.5).verdict == "worse"
    assert mean_against(far, baseline, 0.5).is_worse
    wide = baseline + random.normal(-0.5, 5.0, 200)
    assert mean_against(wide, baseline, 0.5).verdict == "undecided"
    assert not mean_against(wide, baseline, 0.5).is_worse


@pytest.mark.parametrize("judge", [correctness_against, mean_against])
def test_pairs_that_do_not_fit(judge: Judge) -> None:
    with pytest.raises(ValueError, match="expected two arrays"):
        judge(numpy.ones(3), numpy.ones(4), 0.1)
    with pytest.raises(ValueError, match="expected a margin from 0 up"):
        judge(numpy.ones(3), numpy.ones(3), -0.1)


def test_a_mean_that_is_not_finite() -> None:
    with pytest.raises(ValueError, match="a difference is not finite"):
        mean_against(numpy.array([numpy.nan]), numpy.array([1.0]), 0.1)
