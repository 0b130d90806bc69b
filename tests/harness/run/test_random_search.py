"""Failures of random scenarios are cut down to what matters, in real time and for slow ones within a bound."""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run import random_search
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import MOST_SECONDS, cut_down, must, search

STEPS = list(range(40))


class Clock:
    """Time passes only while steps are replayed: a second for each."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.replays = 0

    def now(self) -> float:
        """Seconds."""
        return self.seconds

    def replay(self, steps: Sequence[int]) -> None:
        """Fail where step 17 is among them."""
        self.replays += 1
        self.seconds += len(steps)
        if 17 in steps:
            raise Failed("17")


def cut(clock: Clock, seconds: float = math.inf) -> list[int]:
    return cut_down(STEPS, Failed("all"), clock.replay, seconds, clock.now)[0]


def test_only_the_step_that_matters_is_left() -> None:
    assert cut(Clock()) == [17]


def test_no_replay_begins_when_the_seconds_have_passed() -> None:
    clock = Clock()
    left = cut(clock, 25.0)
    assert 17 in left
    assert 1 < len(left) < len(STEPS)
    assert clock.seconds <= 25.0 + len(STEPS)
    assert cut(Clock(), 0.0) == STEPS


def test_replays_are_counted_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_search, "most_replays", 3)
    clock = Clock()
    assert 17 in cut(clock)
    assert clock.replays == 3


@pytest.mark.parametrize(
    ("is_virtual", "declared", "bound"),
    [(True, math.inf, math.inf), (True, 7.0, 7.0), (False, math.inf, MOST_SECONDS), (False, 7.0, 7.0)],
)
def test_seconds_are_bounded_in_real_time_and_where_a_case_says_so(
    is_virtual: bool, declared: float, bound: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[float] = []

    def listen(
        steps: list[int], error: Failed, replay: Callable[[Sequence[int]], None], seconds: float
    ) -> tuple[list[int], Failed]:
        found.append(seconds)
        return steps, error

    def attempt(_: Any, steps: list[int]) -> None:
        steps += STEPS
        raise Failed("all")

    monkeypatch.setattr(random_search, "cut_down", listen)
    manifest = SimpleNamespace(virtual_clock=is_virtual)
    context = SimpleNamespace(seed=0, manifest=manifest, attach=lambda make_payload: None, short_lived=nullcontext)
    with pytest.raises(Failed):
        search(cast(CaseContext, context), 1, attempt, Clock().replay, declared)
    assert found == [bound]


def test_what_a_check_says_is_kept_beside_the_steps() -> None:
    def check() -> None:
        with checks.about("NPU-HAL-024"):
            checks.equal(1, 2, "ms")

    with pytest.raises(Failed) as caught:
        must(check, ["a pause", "a run"])
    assert str(caught.value).splitlines() == ["ms: expected 2, found 1", "Steps:", "  1. a pause", "  2. a run"]
    assert (caught.value.about, caught.value.expected, caught.value.found) == (("NPU-HAL-024",), "2", "1")
