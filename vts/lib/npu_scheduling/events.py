"""The events of the scheduling HAL as they arrive, and what they say."""

from __future__ import annotations

import enum
import itertools
import time
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from npu_conformance.harness.judge import checks
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, StartReason, WorkInfo

EventType = Literal["requested", "started", "ended"]


class Notification(NamedTuple):
    """What happened. reason: StartReason or EndReason, any number that a HAL sends, None for a request."""

    event_type: EventType
    reason: int | None = None

    def __repr__(self) -> str:
        """Write it for failures, alike for what is expected and what a HAL has sent: `ended COMPLETED`, `ended 99`."""
        if self.reason is None:
            return self.event_type
        reasons: type[enum.IntEnum] = EndReason if self.event_type == "ended" else StartReason
        names = {reason.value: reason.name for reason in reasons}
        return f"{self.event_type} {names.get(self.reason, self.reason)}"


REQUESTED = Notification("requested")
STARTED = Notification("started", StartReason.INITIAL)
RESUMED = Notification("started", StartReason.RESUMED)
PAUSED = Notification("ended", EndReason.PAUSED)
COMPLETED = Notification("ended", EndReason.COMPLETED)
USER = Notification("ended", EndReason.CANCELLED_USER)
SYSTEM = Notification("ended", EndReason.CANCELLED_SYSTEM)
FAILED = Notification("ended", EndReason.FAILED)
UNDISTURBED = (REQUESTED, STARTED, COMPLETED)


def now_ms() -> float:
    """Milliseconds of the harness's clock."""
    return time.monotonic() * 1000


@dataclass(frozen=True)
class Event:
    """One call of the callback. reason: StartReason or EndReason, None for a request.

    arrived_ms: milliseconds of the harness's own clock, which need not be the one of the work's timestamp.
    """

    event_type: EventType
    work: WorkInfo
    reason: int | None
    arrived_ms: float = field(default_factory=now_ms)

    @property
    def notification(self) -> Notification:
        """What happened, without the work."""
        return Notification(self.event_type, self.reason)


class Recorder(SchedulingCallback):
    """Keeps every event in the order of arrival."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_work_requested(self, work: WorkInfo) -> None:
        """Keep a request."""
        self.events.append(Event("requested", work, None))

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        """Keep a start."""
        self.events.append(Event("started", work, reason))

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        """Keep an end."""
        self.events.append(Event("ended", work, reason))

    def of(self, uid: int) -> list[Event]:
        """The events of work that this uid submitted."""
        return [event for event in self.events if event.work.uid == uid]


@checks.about("NPU-HAL-029")
def without_pauses(received: list[Notification]) -> list[Notification]:
    """The same without pauses from which work was resumed: whether work is paused is the implementation's choice.

    Failed where a start behind a pause names another reason (NPU-HAL-029), which breaks no other rule.
    """
    for before, after in itertools.pairwise(received):
        if before == PAUSED and after.event_type == "started":
            checks.equal(after, RESUMED, f"event that follows {before}, of {received}")
    found: list[Notification] = []
    for one in received:
        if one == RESUMED and found and found[-1] == PAUSED:
            found.pop()
        else:
            found.append(one)
    return found


def first_of(events: list[Event], notification: Notification) -> Event:
    """The first event that says this; fails where none does."""
    return _some(events, notification)[0]


def time_of(events: list[Event], notification: Notification) -> int:
    """The timestamp of the first event that says this."""
    return first_of(events, notification).work.timestamp_ms


def last_of(events: list[Event], notification: Notification) -> Event:
    """The last event that says this; fails where none does."""
    return _some(events, notification)[-1]


def _some(events: list[Event], notification: Notification) -> list[Event]:
    found = events_of(events, notification)
    if not found:
        told = [event.notification for event in events]
        without_pauses(told)
        checks.fail(f"events {told}", f"{notification}", "none")
    return found


def events_of(events: list[Event], notification: Notification) -> list[Event]:
    """The events that say this."""
    return [event for event in events if event.notification == notification]
