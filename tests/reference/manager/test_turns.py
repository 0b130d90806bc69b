"""Equals take turns: who has completed work makes room for who has not."""

from __future__ import annotations

import pytest
from npu_device import CAN, LARGE, MEDIUM, PARKED, SMALL, WAIT, Device

from npu_conformance.specs.npu.types import EndReason, Importance, Policy, PolicyParameters, UnloadReason

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)
ROTATED = ("unload", UnloadReason.ROTATION)


def budget(maximum: int) -> Device:
    return Device(Policy.BUDGET, PolicyParameters(maximum))


def test_completed_work_hands_the_turn_to_an_equal() -> None:
    first, second = (device := Device(Policy.TURN_TAKING)).app(10_001), device.app(10_002)
    held, parked = first.load(1), second.ask(1)
    first.work()
    assert (held, parked) == ([CAN, ROTATED], [PARKED, WAIT])
    first.unloaded(1)
    assert parked == [PARKED, WAIT, CAN]
    assert first.ask(2) == [PARKED]


@pytest.mark.parametrize("reason", [reason for reason in EndReason if reason != EndReason.COMPLETED])
def test_work_that_ends_otherwise_does_not(reason: EndReason) -> None:
    first, second = (device := Device(Policy.TURN_TAKING)).app(10_001), device.app(10_002)
    held, parked = first.load(1), second.ask(1)
    first.work(reason)
    assert (held, parked) == ([CAN], [PARKED])


@pytest.mark.parametrize("importance", [VISIBLE, CACHED])
def test_completed_work_gives_nothing_to_a_weaker_uid(importance: int) -> None:
    first, weaker = (device := Device()).app(10_001), device.app(10_002, importance)
    held, parked = first.load(1), weaker.ask(1)
    first.work()
    assert (held, parked) == ([CAN], [PARKED])


def test_completed_work_of_others_is_counted_for_whom_it_was_done() -> None:
    first, second = (device := Device(Policy.TURN_TAKING)).app(10_001), device.app(10_002)
    held = first.load(1)
    second.ask(1)
    device.hal.work(10_050, EndReason.COMPLETED, original_uid=10_001)
    device.advance(0)
    assert held == [CAN, ROTATED]


def test_a_turn_ends_with_all_models_of_the_uid_and_for_nobody_who_never_fits() -> None:
    device = budget(3)
    first, second = device.app(10_001), device.app(10_002)
    held = [first.load(1, SMALL), first.load(2, MEDIUM)]
    assert second.ask(1, LARGE) == [PARKED]
    first.work()
    assert held == [[CAN], [CAN]]
    assert second.ask(2, SMALL) == [WAIT]
    assert held == [[CAN], [CAN, PREEMPTED]]


def test_a_large_request_collects_the_turns_of_its_equals() -> None:
    device = Device()
    holders = [device.app(10_001 + index) for index in range(4)]
    for holder in holders:
        holder.load(1, SMALL)
    large, newcomer = device.app(10_008), device.app(10_009)
    heard, late = large.ask(1, LARGE), newcomer.ask(1, SMALL)
    for holder in holders:
        holder.work()
        holder.unloaded(1)
    assert (heard[-1], late) == (CAN, [PARKED])


def test_least_recently_completed_is_served_first() -> None:
    device = Device(Policy.TURN_TAKING)
    holder, recent, earlier = device.app(10_001), device.app(10_002), device.app(10_003)
    earlier.work()
    recent.work()
    holder.load(1)
    first, second = recent.ask(1), earlier.ask(1)
    holder.unloaded(1)
    assert (first, second) == ([PARKED], [PARKED, CAN])
