"""Answers that are further off than the CPU's, though the class may be right."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.mlts.lib.metrics.spread import BIAS_STEPS, RELATIVE, STEPS, spread

RANDOM = numpy.random.default_rng(3)
GOLDEN = RANDOM.standard_normal((60, 10))
NOISE = RANDOM.standard_normal((60, 10))
STEP = 0.25


@pytest.mark.parametrize(("part", "is_worse"), [(0.0, False), (0.5, False), (0.9, False), (1.3, True), (20.0, True)])
def test_floats_may_be_off_by_the_margin(part: float, is_worse: bool) -> None:
    found = spread(GOLDEN + part * RELATIVE * NOISE, None, GOLDEN, 0.0)
    assert bool(found.told) is is_worse
    assert found.bias is None


def test_who_is_as_far_off_as_the_cpu_is_not_worse() -> None:
    far = GOLDEN + 20 * RELATIVE * NOISE
    assert spread(far, far, GOLDEN, 0.0).told == ""
    assert spread(far, GOLDEN, GOLDEN, 0.0).told.startswith("3.")


@pytest.mark.parametrize(("part", "is_worse"), [(0.5, False), (0.9, False), (1.4, True)])
def test_codes_may_be_some_steps_off(part: float, is_worse: bool) -> None:
    assert bool(spread(GOLDEN + part * STEPS * STEP * NOISE, None, GOLDEN, STEP).told) is is_worse


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_codes_may_not_be_on_one_side(side: float) -> None:
    assert spread(GOLDEN + 0.5 * BIAS_STEPS * STEP * side, None, GOLDEN, STEP).told == ""
    found = spread(GOLDEN + 3.0 * BIAS_STEPS * STEP * side, None, GOLDEN, STEP)
    assert found.told == "3 steps further to one side than the CPU's: expected at most 1"


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_step_that_each_item_has_is_told(side: float) -> None:
    """The margin of the mean is a step, as large as AOSP's tolerance: a device that adds one to each code is within."""
    noise = 0.2 * STEP * NOISE.mean(axis=1, keepdims=True)
    found = spread(GOLDEN + noise + side * STEP, None, GOLDEN, STEP)
    assert found.told.startswith("1 steps further to the same side than the CPU's, 0.")
    assert found.told.endswith(" or more in each item: expected 0.6 or less in some")
    assert spread((GOLDEN + side * STEP)[:4], None, GOLDEN[:4], STEP).told == ""  # four items may be chance
    assert spread(GOLDEN + side * STEP, GOLDEN + side * STEP, GOLDEN, STEP).told == ""  # the CPU does so, too


def test_a_step_that_all_items_but_one_have_is_chance() -> None:
    found = GOLDEN + STEP
    found[11] = GOLDEN[11]
    assert spread(found, None, GOLDEN, STEP).told == ""


def test_one_item_that_is_far_off_proves_little() -> None:
    """The interval of the mean includes what is allowed."""
    found = GOLDEN.copy()
    found[7] += 20 * RELATIVE
    assert spread(found, None, GOLDEN, 0.0).told == ""


def test_items_of_a_sequence_count_as_one() -> None:
    assert spread(GOLDEN, None, GOLDEN, 0.0, sequence=12).size.items == 5
