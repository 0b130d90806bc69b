"""Decides which events of work the callback receives, debounced for each requesting uid (NPU-HAL-022 to -026, -041).

A burst lasts from the first request of an idle uid to an end that no request follows in time. It has one event of each
kind, and a pause with the start that ends it where the pause lasts the debounce time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from npu_conformance.reference.clock import Timers
from npu_conformance.reference.device.scheduler import Work
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, EndReason, StartReason

NS_PER_MS = 1_000_000

Kind = Literal["requested", "started", "ended"]


class WorkEvent(msgspec.Struct, frozen=True):
    """An event of work. id and timestamp_ms rise in order of happening, however late an end is reported.

    reason: StartReason or EndReason; None for a request.
    """

    id: int
    timestamp_ms: int
    kind: Kind
    work: Work
    reason: int | None


class _Burst(msgspec.Struct):
    """What is going on for one uid.

    first: the work whose request was reported. unfinished: works requested and not ended for good.
    told: the last kind of event that was reported. withheld: the end to report unless work goes on within the debounce
    time.
    """

    first: Work
    unfinished: int = 0
    told: Kind = "requested"
    withheld: WorkEvent | None = None


class Debouncer:
    """Receives every event, and reports those that are due. duration_ms: for ends from now on. Calls must not overlap.

    guard: wraps what the clock calls back, as for Scheduler.
    """

    def __init__(
        self,
        clock: Timers,
        tell: Callable[[WorkEvent], None],
        guard: Callable[[Callable[[], None]], Callable[[], None]] = lambda action: action,
    ) -> None:
        self.duration_ms = DEBOUNCE_DURATION_MS
        self._clock = clock
        self._tell = tell
        self._guard = guard
        self._bursts: dict[int, _Burst] = {}
        self._ids = 0

    def requested(self, work: Work) -> None:
        """Report the first request of a burst; withdraw an end that waits (rules 1 and 3 of ISchedulingCallback)."""
        burst = self._bursts.get(work.uid)
        if burst is None:
            burst = self._bursts[work.uid] = _Burst(work)
            self._tell(self._event("requested", work, None))
        burst.withheld = None
        burst.unfinished += 1

    def started(self, work: Work, reason: StartReason) -> None:
        """Report the start of work whose request was reported (rule 2), and a start that ends a reported pause."""
        burst = self._bursts[work.uid]
        burst.withheld = None
        ends_pause = reason is StartReason.RESUMED and burst.told == "ended"
        if ends_pause or (reason is StartReason.INITIAL and work is burst.first):
            burst.told = "started"
            self._tell(self._event("started", work, reason))

    def ended(self, work: Work, reason: EndReason) -> None:
        """Withhold the end of the last work of a burst, and a pause of work whose start was reported."""
        burst = self._bursts[work.uid]
        if reason is not EndReason.PAUSED:
            burst.unfinished -= 1
        if burst.unfinished == 0 or (reason is EndReason.PAUSED and burst.told == "started"):
            self._withhold(burst, self._event("ended", work, reason))

    def _withhold(self, burst: _Burst, end: WorkEvent) -> None:
        burst.withheld = end

        def tell() -> None:
            if burst.withheld is end:
                self._tell_end(burst)

        self._clock.post(self._guard(tell), self.duration_ms * NS_PER_MS)

    def _tell_end(self, burst: _Burst) -> None:
        end, burst.withheld, burst.told = burst.withheld, None, "ended"
        assert end is not None
        if burst.unfinished == 0:
            del self._bursts[end.work.uid]
        self._tell(end)

    def _event(self, kind: Kind, work: Work, reason: int | None) -> WorkEvent:
        self._ids += 1
        return WorkEvent(self._ids, self._clock.now_ns() // NS_PER_MS, kind, work, reason)
