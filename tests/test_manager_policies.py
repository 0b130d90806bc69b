"""The loading policies of the reference manager: every row of the life cycle's table, and every rule."""

from __future__ import annotations

import pytest
from npu_device import CAN, CANCELLED, COMPLETE, LARGE, MEDIUM, PARKED, SMALL, WAIT, Device

from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.reference.manager.requests import MOST_REQUESTS
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.types import (
    EndReason,
    Flag,
    Importance,
    MemoryPressure,
    ModelPriority,
    Policy,
    PolicyParameters,
    ThermalStatus,
    UnloadReason,
)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)
RANKED_LOWER = ("unload", UnloadReason.PRIORITY_CHANGE)
ROTATED = ("unload", UnloadReason.ROTATION)
HEAT, MEMORY = ("unload", UnloadReason.THERMAL), ("unload", UnloadReason.MEMORY)


def budget(maximum: int) -> Device:
    return Device(Policy.BUDGET, PolicyParameters(maximum))


def test_what_fits_is_granted_and_what_does_not_is_parked() -> None:
    first, second = (device := Device()).app(10_001), device.app(10_002)
    assert first.ask(1, MEDIUM) == [CAN]
    assert second.ask(1, SMALL) == [CAN]
    assert second.ask(2, MEDIUM) == [PARKED]
    assert second.ask(3, SMALL) == [CAN]


def test_stronger_waits_for_the_loaded_model_of_a_weaker_uid() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002, FOREGROUND)
    held, wanted = weak.load(1), strong.ask(1)
    assert (held, wanted) == ([CAN, PREEMPTED], [WAIT])
    weak.unloaded(1)
    assert (held, wanted) == ([CAN, PREEMPTED, COMPLETE], [WAIT, CAN])


def test_the_unload_request_is_decided_before_the_wait_and_the_wait_before_the_grant() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002, FOREGROUND)
    weak.load(1)
    strong.ask(1)
    weak.unloaded(1)
    kinds = [record.kind for record in device.decisions]
    assert kinds == [Kind.GRANT, Kind.LOADED, Kind.UNLOAD, Kind.WAIT, Kind.COMPLETE, Kind.GRANT]


def test_stronger_takes_the_room_of_what_is_not_loaded_at_once() -> None:
    weak, strong = (device := Device()).app(10_001, CACHED), device.app(10_002, FOREGROUND)
    pending, wanted = weak.ask(1), strong.ask(1)
    assert (pending, wanted) == ([CAN, CANCELLED], [CAN])


def test_a_waiting_request_is_outranked_and_its_victim_serves_the_stronger() -> None:
    device = Device()
    weak, middle, strong = device.app(10_001, CACHED), device.app(10_002, VISIBLE), device.app(10_003, FOREGROUND)
    held, waiting, wanted = weak.load(1), middle.ask(1), strong.ask(1)
    assert (held, waiting, wanted) == ([CAN, PREEMPTED], [WAIT, CANCELLED], [WAIT])
    weak.unloaded(1)
    assert (waiting, wanted) == ([WAIT, CANCELLED], [WAIT, CAN])


def test_a_granted_request_holds_its_budget_against_weaker_ones() -> None:
    strong, weak = (device := Device()).app(10_001, FOREGROUND), device.app(10_002, CACHED)
    assert (strong.ask(1), weak.ask(1)) == ([CAN], [PARKED])


def test_no_uid_displaces_what_is_its_own() -> None:
    app = Device().app(10_001)
    held = app.load(1, LARGE, ModelPriority.BACKGROUND)
    assert app.ask(2, SMALL, ModelPriority.NORMAL) == [PARKED]
    assert held == [CAN]


def test_equals_displace_nothing() -> None:
    first, second = (device := Device()).app(10_001), device.app(10_002)
    held = first.load(1)
    assert (second.ask(1), held) == ([PARKED], [CAN])


def test_only_as_many_as_needed_leave_the_weakest_first() -> None:
    device = Device()
    apps = [device.app(10_001 + index, importance) for index, importance in enumerate((200, 300, 400, 350))]
    held = [app.load(1, SMALL) for app in apps]
    assert device.app(10_009).ask(1, MEDIUM) == [WAIT]
    assert held == [[CAN], [CAN], [CAN, PREEMPTED], [CAN, PREEMPTED]]


def test_what_would_not_be_enough_is_not_taken() -> None:
    device = Device()
    weak, equal, strong = device.app(10_001, CACHED), device.app(10_002), device.app(10_003)
    small, medium = weak.load(1, SMALL), equal.load(1, MEDIUM)
    assert strong.ask(1, LARGE) == [PARKED]
    assert (small, medium) == ([CAN], [CAN])


def test_an_unload_serves_the_most_important_that_fits() -> None:
    device = Device()
    holder, strong, weak = device.app(10_001), device.app(10_002, VISIBLE), device.app(10_003, CACHED)
    holder.load(1)
    late, early = weak.ask(1), strong.ask(1)
    holder.unloaded(1)
    assert (early, late) == ([PARKED, CAN], [PARKED])


def test_a_smaller_weaker_request_may_pass_a_larger_stronger_one() -> None:
    device = Device()
    holder, large, small = device.app(10_001), device.app(10_002, VISIBLE), device.app(10_003, CACHED)
    holder.load(1, MEDIUM)
    assert (large.ask(1, LARGE), small.ask(1, SMALL)) == ([PARKED], [CAN])


def test_within_a_uid_normal_is_served_before_background_before_opportunistic() -> None:
    app = Device().app(10_001)
    app.load(1)
    order = [ModelPriority.OPPORTUNISTIC, ModelPriority.BACKGROUND, 100, ModelPriority.NORMAL]
    heard = {priority: app.ask(10 + index, LARGE, priority) for index, priority in enumerate(order)}
    served = []
    for holder in (1, 13, 12, 11):
        app.unloaded(holder)
        served.append(next(priority for priority in order if CAN in heard[priority] and priority not in served))
    assert served == [*reversed(order)]


def test_a_negative_priority_is_no_stronger_than_normal() -> None:
    app = Device().app(10_001)
    app.load(1)
    first, second = app.ask(2, LARGE, ModelPriority.NORMAL), app.ask(3, LARGE, -5)
    app.unloaded(1)
    assert (first, second) == ([PARKED, CAN], [PARKED])


@pytest.mark.parametrize("size", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("policy", [Policy.TURN_TAKING, Policy.BUDGET])
def test_an_unknown_size_leaves_no_trace(policy: Policy, size: int) -> None:
    app = Device(policy).app(10_001)
    with pytest.raises(IllegalArgument, match=f"size class {size}"):
        app.ask(1, size)
    assert app.ask(1, LARGE) == [CAN]


def test_status_quo_takes_any_size_and_knows_no_pressure() -> None:
    app = (device := Device(Policy.STATUS_QUO)).app(10_001)
    held = [app.load(identifier, 7 * identifier) for identifier in range(5)]
    device.control.set_thermal_pressure(ThermalStatus.SHUTDOWN)
    device.app(10_002).ask(1)
    assert held == [[CAN]] * 5


def test_turn_taking_admits_one_model_whatever_its_size() -> None:
    first, second = (device := Device(Policy.TURN_TAKING, PolicyParameters(100))).app(10_001), device.app(10_002)
    assert (first.load(1, SMALL), first.ask(2, SMALL), second.ask(1, SMALL)) == ([CAN], [PARKED], [PARKED])


@pytest.mark.parametrize(
    ("parameters", "sizes", "last"),
    [
        (PolicyParameters(), [SMALL] * 4, PARKED),
        (PolicyParameters(), [MEDIUM, MEDIUM], PARKED),
        (PolicyParameters(8), [LARGE], CAN),
        (PolicyParameters(3), [], PARKED),
        (PolicyParameters(None, {"2": 6}), [SMALL, MEDIUM], PARKED),
        (PolicyParameters(None, {"2": 6, "7": 50}), [], CAN),
        (PolicyParameters(3, {"2": 2}), [SMALL], CAN),
        (PolicyParameters(5, {"2": 6}), [], PARKED),
        (PolicyParameters(None, {"0": 5, "2": 5}), [SMALL], PARKED),
    ],
)
def test_weights_and_maximum(parameters: PolicyParameters, sizes: list[int], last: int) -> None:
    app = Device(Policy.BUDGET, parameters).app(10_001)
    for identifier, size in enumerate(sizes):
        assert app.load(identifier, size) == [CAN]
    assert app.ask(99, LARGE) == [last]


@pytest.mark.parametrize(
    "parameters",
    [PolicyParameters(0), PolicyParameters(-1), PolicyParameters(4, {"0": 0}), PolicyParameters(4, {"9": -1})],
)
def test_a_wrong_budget_changes_nothing(parameters: PolicyParameters) -> None:
    app = (device := Device(Policy.TURN_TAKING)).app(10_001)
    held = app.load(1)
    with pytest.raises(IllegalArgument, match="not positive"):
        device.manager.set_policy(Policy.BUDGET, parameters)
    assert (held, app.ask(2), device.manager.policy.number) == ([CAN], [PARKED], Policy.TURN_TAKING)


def test_a_new_policy_ends_requests_and_asks_for_what_is_loaded() -> None:
    device = budget(3)
    first, second = device.app(10_001), device.app(10_002)
    held, pending, parked = first.load(1, MEDIUM), first.ask(2, SMALL), second.ask(1, LARGE)
    device.manager.set_policy(Policy.BUDGET, None)
    device.advance(0)
    assert held == [CAN, ("unload", UnloadReason.POLICY_CHANGE), CANCELLED]
    assert (pending, parked) == ([CAN, CANCELLED], [PARKED, CANCELLED])
    first.unloaded(1)
    assert held[-1] == CANCELLED
    assert second.ask(1, LARGE)[-1] == CAN


def test_rising_to_the_foreground_makes_a_parked_request_wait_and_then_be_granted() -> None:
    holder, riser = (device := Device()).app(10_001, VISIBLE), device.app(10_002, CACHED)
    held, parked = holder.load(1), riser.ask(1)
    riser.become(FOREGROUND)
    assert (held, parked) == ([CAN, RANKED_LOWER], [PARKED, WAIT])
    holder.unloaded(1)
    assert parked == [PARKED, WAIT, CAN]


def test_sinking_to_the_background_loses_a_model_to_what_is_parked() -> None:
    holder, other = (device := Device()).app(10_001), device.app(10_002)
    held, pending, parked = holder.load(1, MEDIUM), holder.ask(2, MEDIUM), other.ask(1, LARGE)
    holder.become(CACHED)
    assert (held, pending, parked) == ([CAN, RANKED_LOWER], [CAN, CANCELLED], [PARKED, WAIT])


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


def test_room_that_was_made_for_one_goes_to_nobody_weaker() -> None:
    device = Device()
    weak, strong, sly = device.app(10_001, CACHED), device.app(10_002), device.app(10_003, VISIBLE)
    weak.load(1, MEDIUM)
    weak.load(2, MEDIUM)
    wanted = strong.ask(1, LARGE)
    weak.unloaded(1)
    assert (sly.ask(1, SMALL), wanted) == ([PARKED], [WAIT])
    weak.unloaded(2)
    assert wanted == [WAIT, CAN]


def test_each_unload_serves_the_request_it_was_for() -> None:
    device = Device()
    weak, weaker = device.app(10_001, 300), device.app(10_002, 400)
    weak.load(1, MEDIUM)
    weaker.load(1, MEDIUM)
    first, second = device.app(10_003, VISIBLE).ask(1, MEDIUM), device.app(10_004).ask(1, MEDIUM)
    assert (first, second) == ([WAIT], [WAIT])
    weaker.unloaded(1)
    assert (first, second) == ([WAIT, CAN], [WAIT])
    weak.unloaded(1)
    assert second == [WAIT, CAN]


def test_what_a_large_victim_leaves_over_serves_others() -> None:
    device = Device()
    weak, parked, strong = device.app(10_001, CACHED), device.app(10_002, CACHED), device.app(10_003)
    weak.load(1, LARGE)
    heard = parked.ask(1, MEDIUM)
    assert strong.ask(1, SMALL) == [WAIT]
    assert heard == [PARKED, WAIT]
    weak.unloaded(1)
    assert heard == [PARKED, WAIT, CAN]


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


def test_heat_halves_quarters_and_closes_the_budget_weakest_first() -> None:
    device = budget(8)
    strong, weak = device.app(10_001), device.app(10_002, CACHED)
    first, second = strong.load(1, LARGE), weak.load(1, LARGE)
    device.control.set_thermal_pressure(ThermalStatus.MODERATE)
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    device.advance(0)
    assert (first, second) == ([CAN], [CAN, HEAT])
    weak.unloaded(1)
    assert weak.ask(2, SMALL) == [PARKED]
    device.control.set_thermal_pressure(ThermalStatus.CRITICAL)
    device.advance(0)
    assert first == [CAN, HEAT]
    strong.unloaded(1)
    assert weak.heard[2] == [PARKED, WAIT, CAN]
    device.control.set_thermal_pressure(ThermalStatus.EMERGENCY)
    device.advance(0)
    assert weak.heard[2] == [PARKED, WAIT, CAN, CANCELLED]
    assert strong.ask(3, SMALL) == [PARKED]
    device.control.set_thermal_pressure(ThermalStatus.LIGHT)
    device.advance(0)
    assert strong.heard[3] == [PARKED, CAN]


def test_the_worse_of_heat_and_memory_counts_and_is_named() -> None:
    device = budget(8)
    app = device.app(10_001)
    held = [app.load(identifier, SMALL) for identifier in range(8)]
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    device.control.set_memory_pressure(MemoryPressure.CRITICAL)
    device.advance(0)
    assert held == [[CAN]] * 2 + [[CAN, MEMORY]] * 2 + [[CAN, HEAT]] * 4
    assert device.manager.policy.ceiling == 2


def test_pressure_outlives_a_change_of_policy() -> None:
    app = (device := Device()).app(10_001)
    device.control.set_memory_pressure(MemoryPressure.LOW)
    device.manager.set_policy(Policy.BUDGET, None)
    assert (app.ask(1, LARGE), app.ask(2, MEDIUM), app.ask(3, SMALL)) == ([PARKED], [CAN], [PARKED])


def test_moderate_memory_pressure_is_no_emergency() -> None:
    app = (device := Device()).app(10_001)
    held = app.load(1)
    device.control.set_memory_pressure(MemoryPressure.MODERATE)
    device.advance(0)
    assert held == [CAN]


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
