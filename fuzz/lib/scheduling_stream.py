"""The events of one uid at one callback, as they arrive: their order, and how many bursts they tell of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.scheduling_work import TICK_MS, Work
from npu_conformance.specs.npu.types import EndReason, StartReason, WorkInfo

Notification = tuple[str, int | None]
REQUESTED: Notification = ("requested", None)
STARTED: Notification = ("started", StartReason.INITIAL)
RESUMED: Notification = ("started", StartReason.RESUMED)
PAUSED: Notification = ("ended", EndReason.PAUSED)
COMPLETED: Notification = ("ended", EndReason.COMPLETED)
_LEGAL = frozenset((REQUESTED, STARTED, RESUMED, *(("ended", reason) for reason in EndReason)))


@dataclass(frozen=True)
class Event:
    """One call of a callback. recorder: which one was called; arrived_ms: when at the latest, by the virtual clock."""

    recorder: int
    notification: Notification
    work: WorkInfo
    arrived_ms: int

    def __str__(self) -> str:
        kind, reason = self.notification
        return f"{kind}{'' if reason is None else f' with reason {reason}'} of uid {self.work.uid}"


def is_final(one: Notification) -> bool:
    """True for an end for good."""
    return one[0] == "ended" and one != PAUSED


@dataclass
class Stream:
    """The events of a uid since a callback was registered. is_midway: there was work then, which may be told of."""

    is_midway: bool = False
    last: Notification | None = None
    end_ms: int | None = None
    requests: int = 0
    told: str = ""

    @property
    def is_in_step(self) -> bool:
        """False where the stream may still begin: what is told of a burst that was requested elsewhere is free."""
        return not self.is_midway or self.requests > 0

    def take(self, event: Event, moment_ms: int, debounce_ms: int, *, is_disturbed: bool) -> None:
        """Judge an event by those before it (NPU-HAL-019, -022, -023, -029 to -031, -041).

        is_disturbed: work of the uid was ended early. Where that work was requested and had not begun, what completes
        in its burst has no start of its own: its request was suppressed.
        """
        one = event.notification
        if one not in _LEGAL:
            raise Found("wrong-status", f"NPU-HAL-030: {event}: there is no such reason", "NPU-HAL-030")
        if one == REQUESTED:
            self._begin(event, moment_ms, debounce_ms)
        elif not self.is_in_step:
            return
        if not _may_follow(self.last, one) and not (is_disturbed and (self.last, one) == (REQUESTED, COMPLETED)):
            raise Found("wrong-status", f"NPU-HAL-019: {event} comes behind {self.last}", "NPU-HAL-019")
        self.last, self.told = one, self.told[-5:] + one[0][0] + ("" if one[1] is None else str(int(one[1])))
        if is_final(one):
            self.end_ms = moment_ms

    def _begin(self, event: Event, moment_ms: int, debounce_ms: int) -> None:
        self.requests += 1
        if self.end_ms is not None and moment_ms - self.end_ms < debounce_ms - TICK_MS:
            what = f"NPU-HAL-022: {event} {moment_ms - self.end_ms} ms after an end that was told"
            raise Found("wrong-status", what, "NPU-HAL-022")


def _may_follow(before: Notification | None, after: Notification) -> bool:
    """True where one event of a uid may come right after another. What never started may end, but not complete."""
    if before is None or is_final(before):
        return after == REQUESTED
    if before == REQUESTED:
        return after == STARTED or (is_final(after) and after != COMPLETED)
    if before[0] == "started":
        return after[0] == "ended"
    return after == RESUMED or is_final(after)


def bursts(works: Sequence[Work], debounce_ms: int) -> int | None:
    """How many bursts works of one uid are; None where what is known of their ends does not tell (NPU-HAL-025)."""
    count, earliest, latest = 0, 0, 0
    for work in sorted(works, key=lambda one: one.begun_ms):
        if count and work.begun_ms - earliest < debounce_ms:
            pass
        elif not count or work.begun_ms - latest >= debounce_ms:
            count += 1
        else:
            return None
        ended = work.ended or (1 << 62, 1 << 62)
        earliest, latest = max(earliest, ended[0]), max(latest, ended[1])
    return count
