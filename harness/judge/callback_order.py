"""Which callbacks about a request may come where, whatever the policy decides."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.judge.manager_events import (
    CANCELLED,
    COMPLETE,
    GRANT,
    WAIT,
    Notification,
    without_repetitions,
)
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import UnloadReason

Broken = tuple[str, str]
"""The requirement that is broken, and how."""


def out_of_order(tracked: TrackedRequest, *, busy: bool, replaced: bool, pressing: bool) -> Iterator[Broken]:
    """Name each callback of the newest step that was not allowed (NPU-LIF-006, -010 to -013, -016, -019, -022).

    busy, replaced, pressing: as in ManagerModel.
    """
    new = [event.notification for event in tracked.new_events]
    yield from _after_the_end(tracked, new, busy=busy, replaced=replaced)
    grants = without_repetitions(new).count(GRANT)
    if grants > 1:
        yield "NPU-POL-010", f"{tracked.name}: granted {grants} times at once"
    if GRANT in new and _has_grant_in_use(tracked, busy=busy):
        yield "NPU-LIF-009", f"{tracked.name}: granted though it is loaded"
    if any(kind == "unload" for kind, _ in new) and not tracked.loaded:
        yield "NPU-LIF-016", f"{tracked.name}: asked to unload though it was not reported as loaded"
    yield from _ended_wrongly(tracked, new)
    if CANCELLED in new and not _may_cancel(tracked, busy=busy, pressing=pressing):
        yield (
            "NPU-POL-014" if tracked.loaded else "NPU-POL-022",
            f"{tracked.name}: cancelled though it is {'loaded' if tracked.loaded else 'parked'}",
        )
    for event in tracked.new_events:
        if event.kind == "unload" and event.status not in (None, *UnloadReason):
            yield "NPU-LIF-018", f"{tracked.name}: unload reason {event.status} is not defined"


def _after_the_end(tracked: TrackedRequest, new: list[Notification], *, busy: bool, replaced: bool) -> Iterator[Broken]:
    before = tracked.earlier_events
    if new and ((tracked.dead and not busy) or any(event.kind == "complete" for event in before)):
        yield (
            "NPU-LIF-019" if tracked.dead else "NPU-LIF-013",
            f"{tracked.name}: {tracked.new_events[0]} after its end",
        )
    if any(kind == "complete" for kind, _ in new[:-1]) and new[-1][0] != "complete":
        yield "NPU-LIF-013", f"{tracked.name}: {tracked.new_events[-1]} after its completion"
    is_late = tracked.overdue and all(kind != "decision" for kind, _ in new)
    if new and tracked.dropped and not (replaced or is_late):
        yield "NPU-LIF-022", f"{tracked.name}: {tracked.new_events[0]} though its policy was replaced before"


def _ended_wrongly(tracked: TrackedRequest, new: list[Notification]) -> Iterator[Broken]:
    if sum(kind == "complete" for kind, _ in new) > 1:
        yield (
            "NPU-LIF-011" if CANCELLED in new else "NPU-LIF-010",
            f"{tracked.name}: completed {new.count(CANCELLED) + new.count(COMPLETE)} times",
        )
    if COMPLETE in new and not tracked.unloaded:
        yield "NPU-LIF-010", f"{tracked.name}: COMPLETE though its client unloaded nothing"


def _has_grant_in_use(tracked: TrackedRequest, *, busy: bool) -> bool:
    """Its model is loaded, and was granted: to say so again is wrong, unless that crossed the notification."""
    if any(event.notification == GRANT for event in tracked.earlier_events):
        return tracked.was_loaded or (tracked.loaded and not busy)
    return tracked.loaded and not tracked.ungranted


def _may_cancel(tracked: TrackedRequest, *, busy: bool, pressing: bool) -> bool:
    """The manager may cancel what was granted or waits for it; parked and loaded requests only its client may.

    While several things are under way, a decision that the end has overtaken may never have left (NPU-LIF-005 asks for
    a decision or a completion), and what the client said of it may have crossed the cancellation.
    """
    if tracked.cancelled or tracked.dropped or pressing:
        return True
    if busy:
        return not tracked.was_loaded or any(event.notification in (GRANT, WAIT) for event in tracked.events)
    return not tracked.loaded and tracked.decision in (GRANT[1], WAIT[1])
