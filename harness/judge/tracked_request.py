"""A request as its client knows it: what it was told, and what it did itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_conformance.harness.judge.manager_events import GRANT, Event
from npu_conformance.specs.npu.types import ModelLoadRequest


@dataclass(eq=False)
class TrackedRequest:
    """A request as its client knows it.

    events: all callbacks about it so far; new_events: those of the newest step.
    loaded, unloaded, cancelled: what the client did about it. was_loaded: it was loaded before the newest step.
    dropped: the policy it belonged to is gone. overdue: it did not answer an unload request in time.
    """

    uid: int
    request: ModelLoadRequest
    weight: int
    events: list[Event] = field(default_factory=list)
    new_events: list[Event] = field(default_factory=list)
    loaded: bool = False
    was_loaded: bool = False
    ungranted: bool = False
    unloaded: bool = False
    cancelled: bool = False
    dropped: bool = False
    overdue: bool = False
    dead: bool = False

    @property
    def name(self) -> str:
        """For messages."""
        return f"request {self.request.id} of uid {self.uid}"

    @property
    def ended(self) -> bool:
        """It has been completed, or no further callback may come."""
        return self.dropped or self.dead or self.completed

    @property
    def may_live(self) -> bool:
        """It has not ended, or it is overdue, which need not end it (NPU-LIF-027)."""
        return not self.ended or (self.overdue and not self.dead and not self.completed)

    @property
    def completed(self) -> bool:
        """Its client has got its completion."""
        return any(event.kind == "complete" for event in self.events)

    @property
    def decision(self) -> int | None:
        """The newest decision."""
        return _decision(self.events)

    @property
    def earlier_decision(self) -> int | None:
        """The newest decision before the newest step."""
        return _decision(self.earlier_events)

    @property
    def earlier_events(self) -> list[Event]:
        """Those before the newest step."""
        return self.events[: len(self.events) - len(self.new_events)]

    @property
    def asked(self) -> bool:
        """Its client was asked to unload it."""
        return any(event.kind == "unload" for event in self.events)

    @property
    def is_newly_asked(self) -> bool:
        """It was asked to unload by the newest step, and not before: whether asking again is right NPU-LIF-017 says."""
        return self.asked and not any(event.kind == "unload" for event in self.earlier_events)

    @property
    def is_newly_granted(self) -> bool:
        """It was granted in the newest step, and not only told again of the grant that it had before."""
        decisions = [event.status for event in self.new_events if event.kind == "decision"]
        has_grant = self.earlier_decision == GRANT[1]
        return GRANT[1] in decisions and not (has_grant and set(decisions) == {GRANT[1]})

    @property
    def holds(self) -> bool:
        """It has budget: it is granted, or in memory."""
        return not self.ended and (self.loaded or self.decision == GRANT[1])


def _decision(events: list[Event]) -> int | None:
    return next((event.status for event in reversed(events) if event.kind == "decision"), None)
