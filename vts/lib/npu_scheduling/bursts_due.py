"""What has to be notified of works that were done one after the other, and what each event may say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import REQUESTED, STARTED, Notification


@dataclass
class Work:
    """A run that has ended. effective: the priorities that it may have had."""

    app: App
    pid: int
    run: InferenceRun
    effective: frozenset[int]
    reason: int
    started_ms: int
    ended_ms: int


@dataclass
class Burst:
    """Works of a uid between which no debounce time has passed. durations: those that may be in force for its end."""

    works: list[Work]
    durations: list[int]
    is_over: bool = False

    def due(self) -> list[Notification]:
        """What has to have been notified of it."""
        end = [Notification("ended", self.works[-1].reason)] if self.is_over else []
        return [REQUESTED, STARTED, *end]


def broken(found: Sequence[Notification], due: Sequence[Notification]) -> tuple[str, ...]:
    """What events break that are not those that are due: reasons, the end behind the debounce time, or their number."""
    if [one.event_type for one in found] == [one.event_type for one in due]:
        wrong = next((one.event_type for one, other in zip(found, due, strict=True) if one != other), "")
        return ("NPU-HAL-029" if wrong == "started" else "NPU-HAL-030",)
    shorter, longer = sorted((list(found), list(due)), key=len)
    if shorter == longer[:-1] and longer[-1].event_type == "ended":
        return ("NPU-HAL-024",)
    return ("NPU-HAL-025", "NPU-HAL-019", "NPU-HAL-022")
