"""A device that keeps answers is told, and no machine whose caches are cold after somebody else's turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npu_conformance.mlts.lib.known_inputs import KnownInputs
from npu_conformance.mlts.lib.loaded_model import Inference

TURNS = 10


def inferences(fresh: Callable[[int], float], known: Callable[[int], float], on_device: bool = False) -> KnownInputs:
    """Some turns of inferences whose milliseconds follow from their number in the turn, over both kinds."""
    calls = [0]

    def step(milliseconds: Callable[[int], float]) -> Inference:
        calls[0] += 1
        seconds = milliseconds(calls[0]) / 1000
        return Inference({}, 0.01 if on_device else seconds, seconds if on_device else None)

    made = KnownInputs(lambda: step(fresh), lambda: step(known))
    for _ in range(TURNS):
        calls[0] = 0
        made.turn()
    return made


@pytest.mark.parametrize(("where", "on_device"), [("", False), (" on the device", True)])
def test_answers_that_are_kept_are_told(where: str, on_device: bool) -> None:
    found = inferences(lambda _: 0.5, lambda _: 0.2, on_device)
    assert found.told == f"answers to an input that is repeated take 0.2 ms{where}, to others 0.5 ms"


def test_the_last_answer_alone_may_be_kept() -> None:
    """The device computes the known input once in each block."""
    last = [""]

    def step(name: str) -> float:
        was, last[0] = last[0], name
        return 0.2 if was == name == "known" else 0.5

    assert inferences(lambda _: step("fresh"), lambda _: step("known")).told


@pytest.mark.parametrize("slow", [0.05, 5.0])
def test_a_machine_that_gets_warm_in_a_turn_keeps_no_answers(slow: float) -> None:
    """The first inferences of a turn take longer: the other implementation had it before."""

    def milliseconds(number: int) -> float:
        return 0.14 + slow * (number <= 4)

    assert inferences(milliseconds, milliseconds).told == ""


@pytest.mark.parametrize("on_device", [False, True])
def test_little_is_no_accusation(on_device: bool) -> None:
    assert inferences(lambda _: 0.19, lambda _: 0.14, on_device).told == ""
    assert inferences(lambda _: 5.0, lambda _: 4.5, on_device).told == ""


def test_one_of_a_turn_does_not_count_of_each_kind() -> None:
    found = inferences(float, float)
    assert [1000 * one.seconds for one in found.fresh[:8]] == [2, 3, 4, 5, 7, 8, 9, 10]
    assert [1000 * one.seconds for one in found.known[:8]] == [7, 8, 9, 10, 2, 3, 4, 5]
