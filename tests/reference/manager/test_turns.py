"""Equals take turns: who has completed work makes room for who has not."""

from __future__ import annotations

import pytest
from npu_manager import ReferenceFixture, Start, received

from npu_conformance.cts.lib.manager_client import GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL
from npu_conformance.specs.npu.types import EndReason, Importance, Policy, PolicyParameters, UnloadReason

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)
ROTATED = ("unload", UnloadReason.ROTATION)


def test_completed_work_hands_the_turn_to_an_equal(start: Start) -> None:
    fixture = start(Policy.TURN_TAKING)
    first, second = fixture.app(), fixture.app()
    held, parked = first.loads(), second.asks()
    parked.receives(PARKED)
    fixture.works(first)
    assert received(held, parked) == [[GRANT, ROTATED], [PARKED, WAIT]]
    held.unload()
    assert received(parked) == [[PARKED, WAIT, GRANT]]
    assert received(first.asks()) == [[PARKED]]


@pytest.mark.parametrize("reason", [reason for reason in EndReason if reason != EndReason.COMPLETED])
def test_work_that_ends_otherwise_does_not(start: Start, reason: EndReason) -> None:
    fixture = start(Policy.TURN_TAKING)
    first, second = fixture.app(), fixture.app()
    held, parked = first.loads(), second.asks()
    fixture.works(first, reason)
    assert received(held, parked) == [[GRANT], [PARKED]]


@pytest.mark.parametrize("importance", [VISIBLE, CACHED])
def test_completed_work_gives_nothing_to_a_weaker_uid(fixture: ReferenceFixture, importance: int) -> None:
    first, weaker = fixture.app(), fixture.app(importance)
    held, parked = first.loads(), weaker.asks()
    fixture.works(first)
    assert received(held, parked) == [[GRANT], [PARKED]]


def test_completed_work_of_others_is_counted_for_whom_it_was_done(start: Start) -> None:
    fixture = start(Policy.TURN_TAKING)
    first, second = fixture.app(), fixture.app()
    held = first.loads()
    second.asks()
    fixture.hal.work(10_050, EndReason.COMPLETED, original_uid=first.uid)
    assert received(held) == [[GRANT, ROTATED]]


def test_a_turn_ends_with_all_models_of_the_uid_and_for_nobody_who_never_fits(start: Start) -> None:
    fixture = start(Policy.BUDGET, PolicyParameters(3))
    first, second = fixture.app(), fixture.app()
    held = [first.loads(SMALL), first.loads(MEDIUM)]
    assert received(second.asks(LARGE)) == [[PARKED]]
    fixture.works(first)
    assert received(*held) == [[GRANT], [GRANT]]
    assert received(second.asks(SMALL)) == [[WAIT]]
    assert received(*held) == [[GRANT], [GRANT, PREEMPTED]]


def test_a_large_request_collects_the_turns_of_its_equals(fixture: ReferenceFixture) -> None:
    held = [fixture.app().loads(SMALL) for _ in range(4)]
    large, late = fixture.app().asks(LARGE), fixture.app().asks(SMALL)
    for model in held:
        fixture.works(model.app)
        model.unload()
    assert large.notifications[-1] == GRANT
    assert late.notifications == [PARKED]


def test_least_recently_completed_is_served_first(start: Start) -> None:
    fixture = start(Policy.TURN_TAKING)
    holder, recent, earlier = fixture.app(), fixture.app(), fixture.app()
    fixture.works(earlier)
    fixture.works(recent)
    held = holder.loads()
    first, second = recent.asks(), earlier.asks()
    held.unload()
    assert received(first, second) == [[PARKED], [PARKED, GRANT]]
