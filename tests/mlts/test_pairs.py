"""What takes longer is told from what was interrupted: by turns, and looked at again."""

from __future__ import annotations

import itertools
import random

from npu_conformance.mlts.lib.pairs import Slower, Step, slower


def steps(*seconds: float) -> Step:
    """A step that takes these times, again and again."""
    return itertools.cycle(seconds).__next__


def test_equal_steps_are_equal() -> None:
    assert slower(steps(0.01), steps(0.01)) is None


def test_what_takes_twice_as_long_is_slower() -> None:
    found = slower(steps(0.01), steps(0.02))
    assert found == Slower(0.01, 0.02, 2.0)
    assert found.told == "20 ms instead of 10 ms, 2.0 times as long"


def test_what_is_faster_is_not_slower() -> None:
    assert slower(steps(0.02), steps(0.01)) is None


def test_a_little_time_is_not_noticed() -> None:
    assert slower(steps(0.0001), steps(0.0009)) is None
    assert slower(steps(0.0001), steps(0.0009), noticeable=0.0005) is not None


def test_interruptions_of_one_in_three_are_not_slowness() -> None:
    assert slower(steps(0.01), steps(0.01, 0.5, 0.01)) is None


def test_a_machine_that_is_busy_for_a_while_is_not_slowness() -> None:
    """In the first look all is slow, and later nothing is."""
    assert slower(steps(0.01), itertools.chain([0.1] * 24, itertools.repeat(0.01)).__next__) is None


def test_noise_is_not_slowness() -> None:
    """Each try of both takes one to thirty times as long, as on a machine with much else to do."""
    for seed in range(200):
        drawn = random.Random(seed)

        def step(drawn: random.Random = drawn) -> float:
            return 0.001 * drawn.lognormvariate(0.0, 1.2)

        assert slower(step, step) is None, seed


def test_slowness_is_found_in_noise() -> None:
    for seed in range(50):
        drawn = random.Random(seed)

        def usual(drawn: random.Random = drawn) -> float:
            return 0.001 * drawn.lognormvariate(0.0, 0.4)

        def other(usual: Step = usual) -> float:
            return 10.0 * usual()

        assert slower(usual, other) is not None, seed
