"""Who gets room under the budget policy: what fits, who makes room for whom, and whom an unload serves."""

from __future__ import annotations

from npu_device import CAN, CANCELLED, COMPLETE, LARGE, MEDIUM, PARKED, SMALL, WAIT, Device

from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.specs.npu.types import Importance, ModelPriority, UnloadReason

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
PREEMPTED = ("unload", UnloadReason.FOREGROUND_PREEMPTION)
RANKED_LOWER = ("unload", UnloadReason.PRIORITY_CHANGE)


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
