"""The callbacks of a client of the NPU Manager, as they arrive."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import CompletionStatus, LoadStatus, ModelLoadRequest, UnloadReason

Kind = Literal["decision", "unload", "complete"]
Notification = tuple[Kind, int | None]
"""What one callback says: its kind, and the status of a decision or completion or the reason of an unload request."""
GRANT: tuple[Kind, int] = ("decision", LoadStatus.CAN_LOAD_NOW)
WAIT: tuple[Kind, int] = ("decision", LoadStatus.WAIT_FOR_UNLOAD)
PARKED: tuple[Kind, int] = ("decision", LoadStatus.NOT_PRIORITIZED)
COMPLETE: tuple[Kind, int] = ("complete", CompletionStatus.COMPLETE)
CANCELLED: tuple[Kind, int] = ("complete", CompletionStatus.CANCELLED)

_NUMBERS: dict[Kind, type[enum.IntEnum]] = {
    "decision": LoadStatus,
    "unload": UnloadReason,
    "complete": CompletionStatus,
}
"""What the number of a callback is one of: messages tell it by name."""


@dataclass(frozen=True)
class Event:
    """One callback. status: of the decision or completion, or the reason of an unload request."""

    kind: Kind
    request: ModelLoadRequest
    status: int | None
    listener: ModelLoadStatusListener | None = None

    @property
    def notification(self) -> Notification:
        """What it says, apart from the request."""
        kind, numbers = self.kind, {int(member): member for member in _NUMBERS[self.kind]}
        return kind, None if self.status is None else numbers.get(self.status, self.status)

    def __str__(self) -> str:
        return f"{self.kind} of request {self.request.id} with {self.status}"


class CallbackRecorder(ModelLoadRequestCallback):
    """Keeps every callback in the order of arrival."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        """Keep a decision."""
        self.events.append(Event("decision", request, status, listener))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        """Keep a request to unload."""
        self.events.append(Event("unload", request, reason))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """Keep a completion."""
        self.events.append(Event("complete", request, status))

    def of(self, identifier: int) -> list[Notification]:
        """The notifications about the request with this id, in order."""
        return [event.notification for event in self.events if event.request.id == identifier]


def without_repetitions(notifications: Sequence[Notification]) -> list[Notification]:
    """Leave out what freedom allows: repeated decisions and unload requests, a wait overtaken by its grant.

    A completion that comes twice stays in, and unload requests lose their reasons.
    """
    kept: list[Notification] = []
    for kind, status in notifications:
        one: Notification = (kind, None if kind == "unload" else status)
        if kind != "complete" and kept[-1:] == [one]:
            continue
        if one == WAIT and kept[-1:] == [GRANT] and WAIT not in kept:
            kept[-1:] = [WAIT, GRANT]
            continue
        kept.append(one)
    return kept
