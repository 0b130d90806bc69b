"""How long a case waits for the callbacks of a manager: no longer than they can still be right."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator

import pytest
from npu_manager import ReferenceFixture

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, Notification
from npu_conformance.cts.lib.manager_fixture import LARGE, UNLOAD, may_become
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import Failed

ALL = (GRANT, WAIT, PARKED, UNLOAD, COMPLETE, CANCELLED)


@pytest.fixture
def fixture() -> Iterator[ReferenceFixture]:
    with contextlib.closing(ReferenceFixture()) as found:
        yield found


@pytest.fixture
def waits(fixture: ReferenceFixture, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each wait, whether it ends with what is there by now."""
    found: list[bool] = []

    def wait(predicate: Callable[[], bool]) -> bool:
        fixture.settle()
        found.append(predicate())
        return found[-1]

    monkeypatch.setattr(fixture, "wait", wait)
    return found


@pytest.mark.parametrize(
    ("wanted", "ends"),
    [
        pytest.param([PARKED], True, id="another decision"),
        pytest.param([GRANT, GRANT], False, id="one more is missing"),
        pytest.param([WAIT, GRANT], False, id="the wait may come late"),
        pytest.param([PARKED, WAIT, GRANT], True, id="a decision before it is missing"),
    ],
)
def test_a_wrong_decision_ends_the_wait(
    fixture: ReferenceFixture, waits: list[bool], wanted: list[Notification], ends: bool
) -> None:
    model = fixture.app().asks(LARGE)
    with pytest.raises(Failed, match="CAN_LOAD_NOW"):
        model.receives(*wanted)
    assert waits == [ends]


def test_one_of_several_answers_that_can_still_come_is_waited_for(fixture: ReferenceFixture, waits: list[bool]) -> None:
    with pytest.raises(Failed):
        fixture.app().asks(LARGE).receives_one_of([PARKED], [GRANT, CANCELLED])
    assert waits == [False]


def test_nothing_that_becomes_right_is_given_up() -> None:
    """Whatever arrives, in any order and as often as it likes: each beginning may become the whole."""
    for whole in itertools.product(ALL, repeat=4):
        for length in range(len(whole)):
            begun, ended = without_repetitions(whole[:length]), without_repetitions(whole)
            assert may_become(begun, ended), (begun, ended)
