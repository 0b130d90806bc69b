"""Decides which work the simulated NPU does when: each device number has a queue by effective priority, and one work.

Test inferences are done in items of equal length. Between two items is a checkpoint, at which stronger work takes the
device over; what was paused goes on later where it stopped. Equals are served in order of arrival, so that none
starves. Nothing happens between checkpoints, so only the next event of each device is on the clock, however long the
work is. Executions of models have checkpoints of their own and end by themselves: the clock holds nothing of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Protocol

import msgspec

from npu_conformance.reference.clock import Timers
from npu_conformance.specs.npu.types import EndReason, StartReason, Uuid

ITEM_NS = 10_000_000
"""Length of an item, and so the longest time that stronger work waits for a checkpoint."""


class Work(msgspec.Struct, eq=False):
    """One inference. on_end: called with the final reason for which it ended.

    remaining_ns: device time it still needs; None for the execution of a model. on_start: called each time it gets the
    device.
    """

    uid: int
    pid: int
    original_uid: int
    job_priority: int
    remaining_ns: int | None
    device_number: int = 0
    group_id: Uuid | None = None
    feature_id: str | None = None
    on_start: Callable[[Work], None] | None = None
    on_end: Callable[[EndReason], None] | None = None
    effective_priority: int = 0
    arrival: int = 0
    has_started: bool = False
    has_ended: bool = False


class Observer(Protocol):
    """What the HAL learns of work. A pause is an end after which the work goes on."""

    def requested(self, work: Work) -> None:
        """Receive work that was queued."""
        ...

    def started(self, work: Work, reason: StartReason) -> None:
        """Receive work that has the device now."""
        ...

    def ended(self, work: Work, reason: EndReason) -> None:
        """Receive work that has lost the device, or no longer wants it."""
        ...


class _Device:
    """One NPU. queue: effective priority, arrival and work; an entry counts while its priority is the work's."""

    def __init__(self) -> None:
        self.queue: list[tuple[int, int, Work]] = []
        self.running: Work | None = None
        self.since_ns = 0
        self.turn = 0
        """Changes with the work that runs: actions that the clock still holds from an earlier turn have no effect."""


class Scheduler:
    """All devices. Calls must not overlap; `guard` wraps what the clock calls back, so that those do not either."""

    def __init__(
        self,
        clock: Timers,
        observer: Observer,
        devices: int = 1,
        guard: Callable[[Callable[[], None]], Callable[[], None]] = lambda action: action,
    ) -> None:
        self._clock, self._observer, self._guard = clock, observer, guard
        self._devices = tuple(_Device() for _ in range(devices))
        self._arrivals = 0

    @property
    def devices(self) -> int:
        """How many devices there are: numbers 0 to devices - 1 (NPU-HAL-032)."""
        return len(self._devices)

    def submit(self, work: Work) -> None:
        """Queue work, which has its effective priority already."""
        self._arrivals += 1
        work.arrival = self._arrivals
        self._observer.requested(work)
        device = self._devices[work.device_number]
        self._enqueue(device, work)
        self._dispatch(device)

    def end(self, work: Work, reason: EndReason) -> None:
        """End work before its time, whether it waits or runs; work that has ended stays as it is."""
        if work.has_ended:
            return
        device = self._devices[work.device_number]
        if device.running is work:
            self._release(device)
        self._finish(work, reason)
        self._dispatch(device)

    def is_to_yield(self, work: Work) -> bool:
        """True where stronger work waits for the device that the work has."""
        strongest = self._strongest(self._devices[work.device_number])
        return strongest is not None and strongest.effective_priority < work.effective_priority

    def step_aside(self, work: Work) -> None:
        """Give the device to stronger work, at a checkpoint of the execution that has it."""
        device = self._devices[work.device_number]
        self._pause(device, device.turn)

    def rank(self, work: Work, effective_priority: int) -> None:
        """Change the priority of work that waits or runs; it may lose or win the device at the next checkpoint."""
        if work.effective_priority == effective_priority:
            return
        work.effective_priority = effective_priority
        device = self._devices[work.device_number]
        if device.running is not work:
            self._enqueue(device, work)
        self._dispatch(device)

    def _enqueue(self, device: _Device, work: Work) -> None:
        heapq.heappush(device.queue, (work.effective_priority, work.arrival, work))

    def _strongest(self, device: _Device) -> Work | None:
        """The work that is next, still in the queue. Entries of work that has ended or was ranked anew are dropped."""
        queue = device.queue
        while queue:
            priority, _, work = queue[0]
            if _counts(work, priority) and work is not device.running:
                return work
            heapq.heappop(queue)
        return None

    def _dispatch(self, device: _Device) -> None:
        strongest = self._strongest(device)
        if strongest is None:
            return
        if device.running is None:
            heapq.heappop(device.queue)
            self._start(device, strongest)
        elif device.running.remaining_ns is not None and self.is_to_yield(device.running):
            self._yield_at_checkpoint(device)  # an execution looks up at checkpoints of its own

    def _start(self, device: _Device, work: Work) -> None:
        device.running, device.since_ns = work, self._clock.now_ns()
        device.turn += 1
        turn = device.turn
        if work.remaining_ns is not None:
            self._clock.post(self._guard(lambda: self._complete(device, turn)), work.remaining_ns)
        reason = StartReason.RESUMED if work.has_started else StartReason.INITIAL
        work.has_started = True
        self._observer.started(work, reason)
        if work.on_start is not None:
            work.on_start(work)

    def _yield_at_checkpoint(self, device: _Device) -> None:
        turn = device.turn
        to_checkpoint = -(self._clock.now_ns() - device.since_ns) % ITEM_NS
        self._clock.post(self._guard(lambda: self._pause(device, turn)), to_checkpoint)

    def _pause(self, device: _Device, turn: int) -> None:
        """Give the device to stronger work, if there still is any."""
        if device.turn != turn:
            return
        running = device.running
        assert running is not None
        if not self.is_to_yield(running):
            return
        self._release(device)
        self._enqueue(device, running)
        self._observer.ended(running, EndReason.PAUSED)
        self._dispatch(device)

    def _complete(self, device: _Device, turn: int) -> None:
        if device.turn != turn:
            return
        running = self._release(device)
        self._finish(running, EndReason.COMPLETED)
        self._dispatch(device)

    def _release(self, device: _Device) -> Work:
        """Take the device from the running work, note what it has done, and return it."""
        running = device.running
        assert running is not None
        if running.remaining_ns is not None:
            running.remaining_ns -= self._clock.now_ns() - device.since_ns
        device.running = None
        device.turn += 1
        return running

    def _finish(self, work: Work, reason: EndReason) -> None:
        work.has_ended = True
        self._observer.ended(work, reason)
        on_end, work.on_end = work.on_end, None
        if on_end is not None:
            on_end(reason)


def _counts(work: Work, priority: int) -> bool:
    return not work.has_ended and priority == work.effective_priority
