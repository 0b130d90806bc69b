"""Clients that load without a grant, leave unload requests unanswered, flood the manager, or die."""

from __future__ import annotations

import pytest
from npu_manager import ReferenceFixture, received

from npu_conformance.cts.lib.manager_client import CANCELLED, GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL
from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.reference.manager.requests import MOST_REQUESTS
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.types import Flag, Importance, MemoryPressure, ThermalStatus, UnloadReason

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)


def test_loading_without_a_grant_counts_and_is_asked_to_unload(fixture: ReferenceFixture) -> None:
    holder, intruder, third = fixture.app(), fixture.app(VISIBLE), fixture.app(CACHED)
    held, parked = holder.loads(), intruder.asks()
    parked.receives(PARKED)
    parked.load()
    assert received(parked) == [[PARKED, ("unload", UnloadReason.NO_GRANT)]]
    assert Kind.LOADED_UNGRANTED in [record.kind for record in fixture.decisions]
    held.unload()
    late = third.asks(SMALL)
    assert GRANT not in received(late)[0]
    parked.unload()
    assert late.notifications[-1] == GRANT


def test_loading_without_a_grant_where_there_is_room_is_counted_only(fixture: ReferenceFixture) -> None:
    held, parked = fixture.app().loads(SMALL), fixture.app(CACHED).asks(LARGE)
    held.unload()
    assert received(parked) == [[PARKED, GRANT]]
    fixture.control.set_thermal_pressure(ThermalStatus.NONE)
    assert fixture.manager.policy.used == 4


def test_an_ignored_unload_request_costs_the_request(fixture: ReferenceFixture) -> None:
    weak, strong = fixture.app(CACHED), fixture.app()
    fixture.control.set_unload_timeout(10_000_000_000)
    held, wanted = weak.loads(), strong.asks()
    fixture.advance(9.9)
    assert received(held, wanted) == [[GRANT, PREEMPTED], [WAIT]]
    fixture.advance(0.1)
    assert received(held, wanted) == [[GRANT, PREEMPTED, CANCELLED], [WAIT, GRANT]]
    assert Kind.IGNORED in [record.kind for record in fixture.decisions]
    held.unload()
    assert (held.notifications[-1], fixture.manager.policy.used) == (CANCELLED, 4)


def test_an_answered_unload_request_is_not_due_for_a_later_request_of_the_same_id(fixture: ReferenceFixture) -> None:
    weak, strong = fixture.app(CACHED), fixture.app()
    held, wanted = weak.loads(), strong.asks()
    wanted.receives(WAIT)
    held.unload()
    wanted.cancel()
    again = weak.asks(identifier=held.request.id)
    again.receives(GRANT)
    again.load()
    fixture.advance(1000)
    assert again.notifications[-1] == GRANT


def test_an_unload_request_is_not_repeated(fixture: ReferenceFixture) -> None:
    weak, strong = fixture.app(CACHED), fixture.app()
    held = weak.loads()
    strong.asks()
    weak.moves(Importance.GONE)
    fixture.app().asks()
    fixture.control.set_memory_pressure(MemoryPressure.LOW)
    assert received(held) == [[GRANT, PREEMPTED]]


def test_without_the_flag_no_reason_is_given(fixture: ReferenceFixture) -> None:
    weak, strong = fixture.app(CACHED), fixture.app()
    fixture.control.set_flag(Flag.UNLOAD_REASON, False)
    held = weak.loads()
    strong.asks()
    assert received(held) == [[GRANT, ("unload", None)]]


def test_death_frees_everything_at_once_and_serves_the_strongest(fixture: ReferenceFixture) -> None:
    dying, waiting = fixture.app(), fixture.app(CACHED)
    lost = [dying.loads(MEDIUM), dying.loads(MEDIUM), dying.asks(LARGE)]
    parked = waiting.asks(LARGE)
    fixture.settle()
    dying.dies()
    assert received(parked) == [[PARKED, GRANT]]
    assert received(*lost) == [[GRANT], [GRANT], [PARKED]]


def test_another_process_of_the_uid_keeps_its_requests(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    one, other = fixture.process(app, 5001), fixture.process(app, 5002)
    one.loads(MEDIUM)
    kept = other.asks(MEDIUM, identifier=2)
    kept.receives(GRANT)
    kept.load()
    one.client.alive = False
    fixture.control.kill_client(app.uid, one.client.pid)
    assert fixture.manager.policy.used == 2
    kept.cancel()
    assert received(kept) == [[GRANT, CANCELLED]]


def test_a_flood_ends_at_a_stated_number_and_leaves_others_alone(fixture: ReferenceFixture) -> None:
    flooder, other = fixture.app(), fixture.app()
    flood = [flooder.asks(identifier=identifier) for identifier in range(MOST_REQUESTS)]
    with pytest.raises(IllegalState, match=str(MOST_REQUESTS)):
        flooder.asks(identifier=MOST_REQUESTS)
    assert received(other.asks()) == [[PARKED]]
    flood[5].cancel()
    assert received(flooder.asks(identifier=MOST_REQUESTS)) == [[PARKED]]
