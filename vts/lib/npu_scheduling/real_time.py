"""What can be said of moments where time passes by itself, and the HAL's clock is not the harness's.

Only spans of one clock are compared: how long the harness saw something take, and how long it took by the timestamps of
the HAL. A machine that is busy makes calls and notifications later, never earlier. So a span of the harness's that
begins before a call, less the HAL's of what lies in it, is an upper limit of what is left, which nothing can make too
small. Everything else is said of the best of several tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import UNDISTURBED, Event, now_ms
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture

TICK_MS = 10
"""How coarse the clock may be that a HAL takes its times from: that of an old kernel ticks a hundred times a second."""

TRIES = 3
"""So often is tried what a busy machine may keep from showing anything."""


@dataclass(frozen=True)
class Burst:
    """One burst of an app as it was notified. called_ms: before it was asked for, on the harness's clock."""

    called_ms: float
    requested: Event
    ended: Event

    @property
    def took_ms(self) -> int:
        """How long it took from its request to its end, by the timestamps of the HAL."""
        return self.ended.work.timestamp_ms - self.requested.work.timestamp_ms

    @property
    def most_withheld_ms(self) -> float:
        """At most so long the end was withheld: it was called for before it was requested."""
        return self.ended.arrived_ms - self.called_ms - self.took_ms + TICK_MS

    @property
    def withheld_ms(self) -> float:
        """How long the end seems to be withheld, if it was on its way for as long as the request."""
        return self.ended.arrived_ms - self.requested.arrived_ms - self.took_ms


@dataclass(frozen=True)
class Pair:
    """Two runs of an app one after the other. rested_ms: at least so long after the end of the first the second came.

    second_ms: before the second was asked for, on the harness's clock.
    """

    events: list[Event]
    rested_ms: float
    second_ms: float

    def is_one_burst(self) -> bool:
        """True where the second run belongs to the burst of the first; Failed where there are neither one nor two."""
        received = [event.notification for event in self.events]
        expected = list(UNDISTURBED) * (2 if len(received) > len(UNDISTURBED) else 1)
        checks.equal(received, expected, "events of two runs")
        return len(received) == len(UNDISTURBED)

    @property
    def gap_ms(self) -> int:
        """How long after the end of the first burst the second was requested, by the timestamps of the HAL."""
        ended, requested = self.events[2:4]
        return requested.work.timestamp_ms - ended.work.timestamp_ms


def bursts(npu: SchedulingFixture, app: App, debounce_ms: int) -> Iterator[Burst]:
    """Let an app run for each try."""
    for _ in range(TRIES):
        seen, called_ms = len(app.events()), now_ms()
        app.works()
        npu.settle(debounce_ms)
        events = app.events()[seen:]
        checks.equal([event.notification for event in events], list(UNDISTURBED), f"events of uid {app.uid}")
        yield Burst(called_ms, events[0], events[-1])


def pairs(npu: SchedulingFixture, app: App, second: InferenceRun, gap_ms: int) -> Iterator[Pair]:
    """Let an app run twice for each try, with a gap between the end of one run and the request of the other."""
    for _ in range(TRIES):
        seen = len(app.events())
        app.works(InferenceRun(job_priority=100))
        ended_ms = now_ms()
        npu.rest(gap_ms)
        second_ms = now_ms()
        app.works(second)
        npu.settle()
        yield Pair(app.events()[seen:], second_ms - ended_ms, second_ms)
