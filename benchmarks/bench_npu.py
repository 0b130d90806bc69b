"""Measures the npu scheduling HAL on the virtual clock: events per second, with few and with many apps."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import SchedulingConfig, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.specs.plugin import Caller

WORKS = 30_000
_EVENTS_PER_SECOND = 1_000_000 / 60
"""A million simulated events within a minute."""
_GROWTH = 3.0
"""How much longer an event may take with a thousand times the apps: log2 of 10,000 is four times that of 10."""


class _Count(SchedulingCallback):
    def __init__(self) -> None:
        self.events = 0

    def on_work_requested(self, work: WorkInfo) -> None:
        self.events += 1

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        self.events += 1

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        self.events += 1


def figures() -> Iterator[Figure]:
    """The events per second with few and with many apps, all of which have work that waits."""
    few, many = (max(_events_per_second(apps) for _ in range(3)) for apps in (10, 10_000))
    yield Figure("npu events of 10 apps", few, "/s", aim=_EVENTS_PER_SECOND, at_least=True)
    yield Figure("npu events of 10,000 apps", many, "/s", aim=_EVENTS_PER_SECOND, at_least=True)
    yield Figure("an npu event of 10,000 apps", few / many, "x", "one of 10", _GROWTH)


def _events_per_second(apps: int) -> float:
    clock, count, rng = VirtualClock(), _Count(), random.Random(1)
    service = SchedulingService(clock)
    service.set_callback(count, 0)
    service.set_scheduling_configs(
        tuple(SchedulingConfig(uid, rng.randrange(1001), True, False) for uid in range(apps))
    )
    callers = [Caller(uid, 1) for uid in range(apps)]
    runs = [InferenceRun(job_priority) for job_priority in range(0, 1001, 100)]
    started = time.perf_counter()
    for number in range(WORKS):
        service.submit(callers[number % apps], rng.choice(runs))
        clock.advance(rng.randrange(70_000_000) if number > apps else 0)
    clock.advance(10**15)
    return count.events / (time.perf_counter() - started)
