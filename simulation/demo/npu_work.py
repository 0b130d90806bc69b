"""Reads what the scheduling HAL reported of an app's work from the manager's metrics log (NPU-OBS-006)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from npu_conformance.specs.npu.types import Atom

_ATOM = "NpuWorkEventOccurred"
_REQUESTED, _STARTED, _ENDED = 1, 2, 3
REASONS = {
    1: "initial",
    2: "resumed",
    3: "cancelled by the user",
    4: "cancelled by the system",
    5: "paused",
    6: "failed",
    7: "completed",
}
"""Reasons by their number in the log."""
_PAUSED = 5
Span = tuple[str, int, int]
"""A name, and the beginning and end in nanoseconds."""


@dataclass(frozen=True)
class WorkEvent:
    """One event. time_ns: of CLOCK_MONOTONIC, to the millisecond. kind and reason: numbers of the log."""

    uid: int
    time_ns: int
    kind: int
    reason: int

    @property
    def is_end(self) -> bool:
        """True where work ended for good."""
        return self.kind == _ENDED and not self.is_pause

    @property
    def is_pause(self) -> bool:
        """True where work was paused for stronger work."""
        return self.kind == _ENDED and self.reason == _PAUSED


def work_events(atoms: Iterable[Atom]) -> list[WorkEvent]:
    """The work events of a log."""
    return [
        WorkEvent(each["uid"], each["timestamp_ms"] * 1_000_000, each["type"], each["reason"])
        for each in (atom.values for atom in atoms if atom.name == _ATOM)
    ]


def spans(events: Sequence[WorkEvent]) -> list[Span]:
    """Waiting for the NPU, having it and how that ended, and being paused: one span after the other."""
    found: list[Span] = []
    for event, following in itertools.pairwise(events):
        name = _name(event, following)
        if name:
            found.append((name, event.time_ns, following.time_ns))
    return found


def _name(event: WorkEvent, following: WorkEvent) -> str:
    if event.kind == _REQUESTED:
        return "waits for the NPU"
    if event.kind == _STARTED:
        return f"works, then {REASONS.get(following.reason, 'unknown')}"
    return "paused" if event.is_pause else ""
