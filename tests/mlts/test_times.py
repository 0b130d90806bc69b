"""Medians, percentiles and intervals by hand, by numpy, and by drawing from known distributions."""

from __future__ import annotations

import math
import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_conformance.mlts.lib import times
from npu_conformance.mlts.lib.times import Budget

SAMPLES = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=60)


@given(SAMPLES)
def test_every_sample_is_in_one_bucket(samples: list[float]) -> None:
    buckets = times.distribution("model", "inference", samples).buckets
    assert sum(count for _, count in buckets) == len(samples)
    assert buckets[0][0] == min(samples)
    assert buckets[0][1] >= 1


def test_equal_samples_have_one_bucket() -> None:
    assert times.distribution("model", "inference", [3.0] * 7).buckets == ((3.0, 7),)


def test_a_distribution_by_hand() -> None:
    found = times.distribution("model", "inference", [4.0, 1.0, 3.0, 2.0, 9.0, 5.0, 7.0], beside="cpu")
    assert (found.subject, found.name, found.unit, found.beside, found.count) == ("model", "inference", "ms", "cpu", 7)
    assert found.value == 4.0
    assert (found.low, found.high) == (1.0, 9.0)
    assert found.mean == pytest.approx(31 / 7)
    assert found.deviation == pytest.approx(numpy.std([4, 1, 3, 2, 9, 5, 7]))
    assert found.percentiles["0"] == 1.0
    assert found.percentiles["25"] == 2.5
    assert found.percentiles["100"] == 9.0


def test_five_samples_have_no_interval() -> None:
    found = times.distribution("model", "inference", [1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("count", [6, 7, 20, 101])
def test_the_interval_holds_the_median_as_often_as_it_says(count: int) -> None:
    generator, held = random.Random(1), 0
    for _ in range(400):
        found = times.distribution("model", "inference", [generator.expovariate(1.0) for _ in range(count)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= numpy.log(2.0) <= found.high
    assert held >= 0.93 * 400


def test_seconds_become_milliseconds() -> None:
    assert times.of_seconds("model", "inference", [0.002, 0.002]).value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("each", "expected"), [(1.0, 5), (0.5, 20), (0.0, 100)], ids=["the least", "until it is spent", "the most"]
)
def test_rounds(each: float, expected: int) -> None:
    budget, done = Budget(warm_up=0.0, run=10.0, least=5, most=100), list[int]()
    if each == 1.0:
        budget = Budget(warm_up=0.0, run=2.0, least=5, most=100)

    def step() -> float:
        done.append(len(done))
        return each

    assert times.samples(budget, step) == [each] * expected
    assert done == list(range(expected))


@pytest.mark.parametrize("count", range(6, 120))
def test_the_interval_holds_the_median_surely_enough(count: int) -> None:
    found = times.distribution("model", "inference", [float(rank) for rank in range(count)])
    assert found.low is not None
    assert found.high is not None
    enclosing = sum(math.comb(count, below) for below in range(int(found.low) + 1, int(found.high) + 1))
    assert enclosing / 2**count >= 0.95
