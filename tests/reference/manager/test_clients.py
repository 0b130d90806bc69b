"""Clients that load without a grant, leave unload requests unanswered, flood the manager, or die."""

from __future__ import annotations

import pytest
from npu_device import CAN, CANCELLED, LARGE, MEDIUM, PARKED, SMALL, WAIT, Device

from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.reference.manager.requests import MOST_REQUESTS
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.types import Flag, Importance, MemoryPressure, ThermalStatus, UnloadReason

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)


def test_loading_without_a_grant_counts_and_is_asked_to_unload() -> None:
    device = Device()
    holder, intruder, third = device.app(10_001), device.app(10_002, VISIBLE), device.app(10_003, CACHED)
    holder.load(1)
    heard = intruder.ask(1)
    intruder.loaded(1)
    assert heard == [PARKED, ("unload", UnloadReason.NO_GRANT)]
    assert Kind.LOADED_UNGRANTED in [record.kind for record in device.decisions]
    holder.unloaded(1)
    late = third.ask(1, SMALL)
    assert CAN not in late
    intruder.unloaded(1)
    assert late[-1] == CAN


def test_loading_without_a_grant_where_there_is_room_is_counted_only() -> None:
    device = Device()
    holder, intruder = device.app(10_001), device.app(10_002, CACHED)
    holder.load(1, SMALL)
    heard = intruder.ask(1, LARGE)
    holder.unloaded(1)
    assert heard == [PARKED, CAN]
    device.control.set_thermal_pressure(ThermalStatus.NONE)
    assert device.manager.policy.used == 4


def test_an_ignored_unload_request_costs_the_request() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002)
    device.control.set_unload_timeout(10_000_000_000)
    held, wanted = weak.load(1), strong.ask(1)
    device.advance(9.9)
    assert (held, wanted) == ([CAN, PREEMPTED], [WAIT])
    device.advance(0.1)
    assert (held, wanted) == ([CAN, PREEMPTED, CANCELLED], [WAIT, CAN])
    assert Kind.IGNORED in [record.kind for record in device.decisions]
    weak.unloaded(1)
    assert (held[-1], device.manager.policy.used) == (CANCELLED, 4)


def test_an_answered_unload_request_is_not_due_for_a_later_request_of_the_same_id() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002)
    weak.load(1)
    strong.ask(1)
    weak.unloaded(1)
    strong.cancel(1)
    again = weak.load(1)
    device.advance(1000)
    assert again[-1] == CAN


def test_an_unload_request_is_not_repeated() -> None:
    device = Device()
    weak, strong = device.app(10_001, CACHED), device.app(10_002)
    held = weak.load(1)
    strong.ask(1)
    weak.become(Importance.GONE)
    device.app(10_003).ask(1)
    device.control.set_memory_pressure(MemoryPressure.LOW)
    device.advance(0)
    assert held == [CAN, PREEMPTED]


def test_without_the_flag_no_reason_is_given() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002)
    device.control.set_flag(Flag.UNLOAD_REASON, False)
    held = weak.load(1)
    strong.ask(1)
    assert held == [CAN, ("unload", None)]


def test_death_frees_everything_at_once_and_serves_the_strongest() -> None:
    device = Device()
    dying, waiting = device.app(10_001), device.app(10_002, CACHED)
    dying.load(1, MEDIUM)
    dying.load(2, MEDIUM)
    dying.ask(3, LARGE)
    heard = waiting.ask(1, LARGE)
    dying.die()
    assert heard == [PARKED, CAN]
    assert dying.heard == {1: [CAN], 2: [CAN], 3: [PARKED]}


def test_another_process_of_the_uid_keeps_its_requests() -> None:
    device = Device()
    one, other = device.app(10_001, pid=1), device.app(10_001, pid=2)
    one.load(1, MEDIUM)
    kept = other.load(2, MEDIUM)
    one.die()
    assert device.manager.policy.used == 2
    other.cancel(2)
    assert kept == [CAN, CANCELLED]


def test_a_client_found_dead_by_its_grant_loses_its_room() -> None:
    device = Device()
    dead, other = device.app(10_001), device.app(10_002)
    dead.dead = True
    dead.ask(1)
    assert other.ask(1) == [CAN]


def test_a_flood_ends_at_a_stated_number_and_leaves_others_alone() -> None:
    device = Device()
    flooder, other = device.app(10_001), device.app(10_002)
    for identifier in range(MOST_REQUESTS):
        flooder.ask(identifier)
    with pytest.raises(IllegalState, match=str(MOST_REQUESTS)):
        flooder.ask(MOST_REQUESTS)
    assert other.ask(1) == [PARKED]
    flooder.cancel(5)
    assert flooder.ask(MOST_REQUESTS) == [PARKED]
