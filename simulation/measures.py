"""Measures apps and work while a simulation runs, and sums the figures up."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.device.scheduler import Observer, Work
from npu_conformance.simulation.report import GroupReport, Waits
from npu_conformance.simulation.violation import Violation
from npu_conformance.specs.npu.scenario import AppGroup
from npu_conformance.specs.npu.types import EndReason, Importance, StartReason

NS_PER_MS = 1_000_000
BANDS = ("foreground", "visible", "background")


def band(importance: int) -> str:
    """The name for a range of importances."""
    if importance <= Importance.FOREGROUND_SERVICE:
        return BANDS[0]
    return BANDS[1] if importance <= Importance.PERCEPTIBLE else BANDS[2]


class MeasuredApp(Protocol):
    """The app to measure: who it is, and when its request came and was granted."""

    uid: int
    group: AppGroup
    asked_ns: int
    asked_importance: int
    granted_ns: int
    is_granted: bool

    @property
    def is_waiting(self) -> bool:
        """True where it has a request without a grant."""
        ...


class AppMeter:
    """Counts what apps live through. waiting: requests without a grant, now."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.waits: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.wanted_ns: Counter[MeasuredApp] = Counter()
        self.held_ns: Counter[MeasuredApp] = Counter()
        self.served: set[MeasuredApp] = set()
        self.waiting = 0

    def asked(self, app: MeasuredApp) -> None:
        """Count a request."""
        self.counts[app.group.name]["requests"] += 1
        self.waiting += 1

    def parked(self, app: MeasuredApp) -> None:
        """Count a NOT_PRIORITIZED."""
        self.counts[app.group.name]["parks"] += 1

    def queued(self, app: MeasuredApp) -> None:
        """Count a WAIT_FOR_UNLOAD."""
        self.counts[app.group.name]["queued"] += 1

    def granted(self, app: MeasuredApp) -> None:
        """Count a grant."""
        self.counts[app.group.name]["grants"] += 1
        self.waits[app.group.name, band(app.asked_importance)].append(self._clock.now_ns() - app.asked_ns)
        self.served.add(app)
        self.waiting -= 1

    def asked_to_unload(self, app: MeasuredApp) -> None:
        """Count an unload request."""
        self.counts[app.group.name]["unloads_asked"] += 1

    def answered(self, app: MeasuredApp) -> None:
        """Count an answered unload request."""
        self.counts[app.group.name]["unloads_answered"] += 1

    def inferred(self, app: MeasuredApp) -> None:
        """Count a complete inference."""
        self.counts[app.group.name]["inferences"] += 1

    def ended(self, app: MeasuredApp) -> None:
        """Account for a request that is over."""
        if not app.is_granted:
            self.counts[app.group.name]["never_served"] += 1
            self.waiting -= 1
        self.account(app)

    def account(self, app: MeasuredApp) -> None:
        """Add up the time that a request wanted its model, and had it, when it is over or the simulation is."""
        now = self._clock.now_ns()
        self.wanted_ns[app] += now - app.asked_ns
        if app.is_granted:
            self.held_ns[app] += now - app.granted_ns


class WorkMeter(Observer):
    """Receives all work of the scheduler, and passes it on. One work at a time has a device."""

    def __init__(self, clock: VirtualClock, inner: Observer) -> None:
        self._clock = clock
        self._inner = inner
        self._running: dict[int, tuple[Work, int]] = {}
        self.busy_ns: Counter[int] = Counter()
        """The device time by uid."""
        self.pauses: Counter[int] = Counter()
        self.events = 0

    def requested(self, work: Work) -> None:
        """See Observer."""
        self._inner.requested(work)

    def started(self, work: Work, reason: StartReason) -> None:
        """See Observer. Raises Violation where the device is busy with other work."""
        self.events += 1
        if work.device_number in self._running:
            raise Violation(self._clock.now_ns(), f"two works have device {work.device_number} at once")
        self._running[work.device_number] = work, self._clock.now_ns()
        self._inner.started(work, reason)

    def ended(self, work: Work, reason: EndReason) -> None:
        """See Observer."""
        self.events += 1
        self._account(work)
        if reason is EndReason.PAUSED:
            self.pauses[work.uid] += 1
        self._inner.ended(work, reason)

    def finish(self) -> None:
        """Account for work that still runs."""
        for work, _ in tuple(self._running.values()):
            self._account(work)

    def _account(self, work: Work) -> None:
        running, since = self._running.get(work.device_number, (None, 0))
        if running is work:
            self.busy_ns[work.uid] += self._clock.now_ns() - since
            del self._running[work.device_number]


def waits(meter: AppMeter, groups: Iterable[str]) -> tuple[Waits, ...]:
    """Percentiles by group and band."""
    return tuple(
        _waits(group, name, sorted(found)) for group in groups for name in BANDS if (found := meter.waits[group, name])
    )


def _waits(group: str, name: str, ascending: Sequence[int]) -> Waits:
    p50, p95, p99, most = (percentile(ascending, percent) / NS_PER_MS for percent in (50, 95, 99, 100))
    return Waits(group, name, len(ascending), p50, p95, p99, most)


def curve(meter: AppMeter) -> tuple[float, ...]:
    """See PolicyReport.wait_curve."""
    ascending = sorted(wait for found in meter.waits.values() for wait in found)
    return tuple(percentile(ascending, percent) / NS_PER_MS for percent in range(101)) if ascending else ()


def percentile(ascending: Sequence[int], percent: int) -> int:
    """By the nearest rank: the smallest value that is not exceeded by so many percent of the values."""
    return ascending[max(0, math.ceil(len(ascending) * percent / 100) - 1)]


def jain(shares: Sequence[float]) -> float | None:
    """Jain's index of fairness; None for no values."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


def group_report(
    name: str, apps: Sequence[MeasuredApp], meter: AppMeter, work: WorkMeter, ignored: Counter[int], now_ns: int
) -> GroupReport:
    """Sum up one group, at the end of a simulation."""
    counts = meter.counts[name]
    asked = [app for app in apps if app in meter.wanted_ns]
    waiting = [now_ns - app.asked_ns for app in apps if app.is_waiting]
    shares = [meter.held_ns[app] / wanted for app in asked if (wanted := meter.wanted_ns[app])]
    return GroupReport(
        group=name,
        apps=len(apps),
        requests=counts["requests"],
        grants=counts["grants"],
        parks=counts["parks"],
        queued=counts["queued"],
        never_served=counts["never_served"],
        waiting=len(waiting),
        longest_waiting_ms=max(waiting, default=0) / NS_PER_MS,
        starved_apps=sum(app not in meter.served for app in asked),
        unloads_asked=counts["unloads_asked"],
        unloads_answered=counts["unloads_answered"],
        unloads_ignored=sum(ignored[app.uid] for app in apps),
        preemptions=sum(work.pauses[app.uid] for app in apps),
        inferences=counts["inferences"],
        device_ms=sum(work.busy_ns[app.uid] for app in apps) / NS_PER_MS,
        fairness=jain(shares),
    )
