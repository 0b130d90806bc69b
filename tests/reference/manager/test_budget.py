"""Who gets room under the budget policy: what fits, who makes room for whom, and whom an unload serves."""

from __future__ import annotations

from npu_manager import ReferenceFixture, received

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL
from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.specs.npu.types import Importance, ModelPriority, UnloadReason

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)
RANKED_LOWER = ("unload", UnloadReason.PRIORITY_CHANGE)


def test_what_fits_is_granted_and_what_does_not_is_parked(fixture: ReferenceFixture) -> None:
    first, second = fixture.app(), fixture.app()
    models = first.asks(MEDIUM), second.asks(SMALL), second.asks(MEDIUM), second.asks(SMALL)
    assert received(*models) == [[GRANT], [GRANT], [PARKED], [GRANT]]


def test_stronger_waits_for_the_loaded_model_of_a_weaker_uid(fixture: ReferenceFixture) -> None:
    held, wanted = fixture.app(CACHED).loads(), fixture.app(FOREGROUND).asks()
    assert received(held, wanted) == [[GRANT, PREEMPTED], [WAIT]]
    held.unload()
    assert received(held, wanted) == [[GRANT, PREEMPTED, COMPLETE], [WAIT, GRANT]]


def test_the_unload_request_is_decided_before_the_wait_and_the_wait_before_the_grant(fixture: ReferenceFixture) -> None:
    held = fixture.app(CACHED).loads()
    fixture.app(FOREGROUND).asks()
    held.unload()
    kinds = [record.kind for record in fixture.decisions]
    assert kinds == [Kind.GRANT, Kind.LOADED, Kind.UNLOAD, Kind.WAIT, Kind.COMPLETE, Kind.GRANT]


def test_stronger_takes_the_room_of_what_is_not_loaded_at_once(fixture: ReferenceFixture) -> None:
    pending, wanted = fixture.app(CACHED).granted(), fixture.app(FOREGROUND).asks()
    assert received(pending, wanted) == [[GRANT, CANCELLED], [GRANT]]


def test_a_waiting_request_is_outranked_and_its_victim_serves_the_stronger(fixture: ReferenceFixture) -> None:
    held = fixture.app(CACHED).loads()
    waiting, wanted = fixture.app(VISIBLE).asks(), fixture.app(FOREGROUND).asks()
    assert received(held, waiting, wanted) == [[GRANT, PREEMPTED], [WAIT, CANCELLED], [WAIT]]
    held.unload()
    assert received(waiting, wanted) == [[WAIT, CANCELLED], [WAIT, GRANT]]


def test_a_granted_request_holds_its_budget_against_weaker_ones(fixture: ReferenceFixture) -> None:
    pending, weaker = fixture.app(FOREGROUND).asks(), fixture.app(CACHED).asks()
    assert received(pending, weaker) == [[GRANT], [PARKED]]


def test_no_uid_displaces_what_is_its_own(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    held, parked = app.loads(LARGE, ModelPriority.BACKGROUND), app.asks(SMALL, ModelPriority.NORMAL)
    assert received(held, parked) == [[GRANT], [PARKED]]


def test_equals_displace_nothing(fixture: ReferenceFixture) -> None:
    held, parked = fixture.app().loads(), fixture.app().asks()
    assert received(held, parked) == [[GRANT], [PARKED]]


def test_only_as_many_as_needed_leave_the_weakest_first(fixture: ReferenceFixture) -> None:
    held = [fixture.app(importance).loads(SMALL) for importance in (200, 300, 400, 350)]
    assert received(fixture.app().asks(MEDIUM)) == [[WAIT]]
    assert received(*held) == [[GRANT], [GRANT], [GRANT, PREEMPTED], [GRANT, PREEMPTED]]


def test_what_would_not_be_enough_is_not_taken(fixture: ReferenceFixture) -> None:
    small, medium = fixture.app(CACHED).loads(SMALL), fixture.app().loads(MEDIUM)
    assert received(fixture.app().asks(LARGE), small, medium) == [[PARKED], [GRANT], [GRANT]]


def test_an_unload_serves_the_most_important_that_fits(fixture: ReferenceFixture) -> None:
    held, strong, weak = fixture.app().loads(), fixture.app(VISIBLE), fixture.app(CACHED)
    late, early = weak.asks(), strong.asks()
    held.unload()
    assert received(early, late) == [[PARKED, GRANT], [PARKED]]


def test_a_smaller_weaker_request_may_pass_a_larger_stronger_one(fixture: ReferenceFixture) -> None:
    fixture.app().loads(MEDIUM)
    large, small = fixture.app(VISIBLE).asks(LARGE), fixture.app(CACHED).asks(SMALL)
    assert received(large, small) == [[PARKED], [GRANT]]


def test_within_a_uid_normal_is_served_before_background_before_opportunistic(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    holder = app.loads()
    order = [ModelPriority.OPPORTUNISTIC, ModelPriority.BACKGROUND, 100, ModelPriority.NORMAL]
    waiting = [app.asks(LARGE, priority) for priority in order]
    served = []
    for _ in order:
        holder.unload()
        holder = next(model for model in waiting if GRANT in model.notifications and model not in served)
        served.append(holder)
    assert served == waiting[::-1]


def test_a_negative_priority_is_no_stronger_than_normal(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    held, first, second = app.loads(), app.asks(LARGE, ModelPriority.NORMAL), app.asks(LARGE, -5)
    held.unload()
    assert received(first, second) == [[PARKED, GRANT], [PARKED]]


def test_rising_to_the_foreground_makes_a_parked_request_wait_and_then_be_granted(fixture: ReferenceFixture) -> None:
    holder, riser = fixture.app(VISIBLE), fixture.app(CACHED)
    held, parked = holder.loads(), riser.asks()
    riser.moves(FOREGROUND)
    assert received(held, parked) == [[GRANT, RANKED_LOWER], [PARKED, WAIT]]
    held.unload()
    assert received(parked) == [[PARKED, WAIT, GRANT]]


def test_sinking_to_the_background_loses_a_model_to_what_is_parked(fixture: ReferenceFixture) -> None:
    holder, other = fixture.app(), fixture.app()
    held, pending, parked = holder.loads(MEDIUM), holder.asks(MEDIUM), other.asks(LARGE)
    holder.moves(CACHED)
    assert received(held, pending, parked) == [[GRANT, RANKED_LOWER], [GRANT, CANCELLED], [PARKED, WAIT]]


def test_room_that_was_made_for_one_goes_to_nobody_weaker(fixture: ReferenceFixture) -> None:
    weak, strong, sly = fixture.app(CACHED), fixture.app(), fixture.app(VISIBLE)
    held = [weak.loads(MEDIUM), weak.loads(MEDIUM)]
    wanted = strong.asks(LARGE)
    held[0].unload()
    assert received(sly.asks(SMALL), wanted) == [[PARKED], [WAIT]]
    held[1].unload()
    assert received(wanted) == [[WAIT, GRANT]]


def test_each_unload_serves_the_request_it_was_for(fixture: ReferenceFixture) -> None:
    weak, weaker = fixture.app(300).loads(MEDIUM), fixture.app(400).loads(MEDIUM)
    first, second = fixture.app(VISIBLE).asks(MEDIUM), fixture.app().asks(MEDIUM)
    assert received(first, second) == [[WAIT], [WAIT]]
    weaker.unload()
    assert received(first, second) == [[WAIT, GRANT], [WAIT]]
    weak.unload()
    assert received(second) == [[WAIT, GRANT]]


def test_what_a_large_victim_leaves_over_serves_others(fixture: ReferenceFixture) -> None:
    held, parked = fixture.app(CACHED).loads(LARGE), fixture.app(CACHED).asks(MEDIUM)
    parked.receives(PARKED)
    wanted = fixture.app().asks(SMALL)
    assert received(wanted, parked) == [[WAIT], [PARKED, WAIT]]
    held.unload()
    assert received(parked) == [[PARKED, WAIT, GRANT]]
