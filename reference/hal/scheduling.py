"""The reference npu scheduling HAL: priorities and rights by uid, work by effective priority, and events of it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable

from npu_conformance.reference.clock import Timers, VirtualClock
from npu_conformance.reference.device.scheduler import ITEM_NS, Observer, Scheduler, Work
from npu_conformance.reference.hal.scheduling_events import Debouncer, WorkEvent
from npu_conformance.reference.hal.scheduling_receiver import Posted, Receiver
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    MAX_PRIORITY,
    MIN_PRIORITY,
    EndReason,
    SchedulingConfig,
    WorkInfo,
)
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.specs.plugin import Caller

INFERENCE_NS = 4 * ITEM_NS
"""Device time of a test inference."""


class SchedulingService(Scheduling):
    """The service android.hardware.npu.IScheduling. A call is checked whole before anything changes (NPU-HAL-006).

    clock: of everything that happens. devices: how many NPUs. receiver: makes what brings events to a callback.
    tap: may put another observer before the one that sends events.
    """

    def __init__(
        self,
        clock: Timers | None = None,
        devices: int = 1,
        receiver: Callable[[], Receiver] | None = None,
        tap: Callable[[Observer], Observer] = lambda observer: observer,
    ) -> None:
        self.clock: Timers = clock or VirtualClock()
        self._new_receiver = receiver or (lambda: Posted(self.clock))
        self._configs: dict[int, SchedulingConfig] = {}
        self._callback: SchedulingCallback | None = None
        self._live: dict[int, dict[Work, None]] = {}
        self.lock = threading.RLock()
        """Held by each call: every app calls in a thread of its own. Callbacks are never called under it."""
        self._receivers: weakref.WeakSet[Receiver] = weakref.WeakSet()
        self._receiver = self.receiver()
        self._events = Debouncer(self.clock, self._tell, self._guarded)
        self.scheduler = Scheduler(self.clock, tap(self._events), devices, self._guarded)

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace all configs. Raises IllegalArgument by NPU-HAL-004, -005 and -036."""
        checked = _checked(configs)
        with self.lock:
            self._configs = checked
            self._rank(tuple(self._live))

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace or add the configs of the named uids. Raises IllegalArgument by NPU-HAL-004, -005 and -036."""
        checked = _checked(configs)
        with self.lock:
            self._configs |= checked
            self._rank(checked)

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        """Replace the callback; None removes it. Raises IllegalArgument for a negative debounce time."""
        if debounce_duration_ms < 0:
            raise IllegalArgument(f"debounce duration {debounce_duration_ms} ms is negative")
        with self.lock:
            self._receiver.close()
            self._callback = callback
            self._receiver = self.receiver()
            self._events.duration_ms = debounce_duration_ms

    def receiver(self) -> Receiver:
        """What brings messages to one more callback, for which `settle` waits, too."""
        made = self._new_receiver()
        with self.lock:
            self._receivers.add(made)
        return made

    def config(self, uid: int) -> SchedulingConfig:
        """The config of a uid; by default the weakest priority, direct access and no attribution (NPU-HAL-007)."""
        default = SchedulingConfig(uid, MAX_PRIORITY, has_direct_access=True, can_attribute_other_uid=False)
        return self._configs.get(uid, default)

    def submit(
        self,
        caller: Caller,
        run: InferenceRun,
        on_end: Callable[[EndReason], None] | None = None,
        length_ns: int = INFERENCE_NS,
    ) -> Callable[[EndReason], None]:
        """Queue one inference of the caller, who is known by the transport. Return what ends it before its time.

        on_end: called with the final reason; it must not wait for anything. length_ns: device time.
        Raises IllegalArgument for an unknown priority, uid or device.
        Raises SecurityDenied for no direct access (NPU-HAL-011), or no right to attribute work (NPU-HAL-012).
        """
        with self.lock:
            self._check(caller.uid, run)
            original_uid = caller.uid if run.original_uid == OWN_WORK else run.original_uid
            work = Work(
                caller.uid,
                caller.pid,
                original_uid,
                run.job_priority,
                length_ns,
                self._device(run),
                run.group_id,
                run.feature_id,
            )
            self._queue(work, on_end)

        def end(reason: EndReason) -> None:
            with self.lock:
                self.scheduler.end(work, reason)

        return end

    def submit_execution(self, work: Work) -> None:
        """Queue the execution of a model on the NN HAL's device, which steps aside and ends by `scheduler`.

        Raises SecurityDenied for no direct access (NPU-HAL-011).
        """
        with self.lock:
            self._check_access(work.uid)
            self._queue(work)

    def end_work(self, uid: int, reason: EndReason) -> None:
        """End everything that a uid has submitted, except executions of models, which end by themselves."""
        with self.lock:
            for work in tuple(self._live.get(uid, ())):
                if work.uid == uid and work.remaining_ns is not None:
                    self.scheduler.end(work, reason)

    def settle(self) -> None:
        """Wait until all callbacks have what was sent, except those that are blocked."""
        with self.lock:
            receivers = tuple(self._receivers)
        for receiver in receivers:
            receiver.settle()

    def _check(self, uid: int, run: InferenceRun) -> None:
        config = self.config(uid)
        if not MIN_PRIORITY <= run.job_priority <= MAX_PRIORITY:
            raise IllegalArgument(f"job priority {run.job_priority} is not in {MIN_PRIORITY} to {MAX_PRIORITY}")
        if run.original_uid < OWN_WORK:
            raise IllegalArgument(f"original uid {run.original_uid} is negative")
        self._check_access(uid)
        if run.original_uid not in (OWN_WORK, uid) and not config.can_attribute_other_uid:
            raise SecurityDenied(f"uid {uid} may not work for uid {run.original_uid}")

    def _check_access(self, uid: int) -> None:
        if not self.config(uid).has_direct_access:
            raise SecurityDenied(f"uid {uid} has no direct access")

    def _device(self, run: InferenceRun) -> int:
        number = 0 if run.device_number is None else run.device_number
        if number not in range(self.scheduler.devices):
            raise IllegalArgument(f"device {number}: there are {self.scheduler.devices}, from 0")
        return number

    def _effective_priority(self, work: Work) -> int:
        """The uid's priority plus the job's; work for another uid counts as that uid's (NPU-HAL-008, -014)."""
        owner = work.original_uid if work.original_uid in self._configs else work.uid
        return self.config(owner).priority + work.job_priority

    def _queue(self, work: Work, on_end: Callable[[EndReason], None] | None = None) -> None:
        work.effective_priority = self._effective_priority(work)
        self._remember(work, on_end)
        self.scheduler.submit(work)

    def _remember(self, work: Work, on_end: Callable[[EndReason], None] | None) -> None:
        """Keep work, until it ends, under the uids whose configs decide its priority."""
        uids = {work.uid, work.original_uid}
        for uid in uids:
            self._live.setdefault(uid, {})[work] = None

        def forget(reason: EndReason) -> None:
            for uid in uids:
                del self._live[uid][work]
                if not self._live[uid]:
                    del self._live[uid]
            if on_end is not None:
                on_end(reason)

        work.on_end = forget

    def _rank(self, uids: Iterable[int]) -> None:
        """Apply new configs of these uids to their work that is not done yet."""
        for uid in uids:
            for work in tuple(self._live.get(uid, ())):
                self.scheduler.rank(work, self._effective_priority(work))

    def _tell(self, event: WorkEvent) -> None:
        callback, work = self._callback, event.work
        if callback is None:
            return
        vlog.log("driver", lambda: f"uid {work.uid}: work {event.kind}, {event.reason}")
        info = _info(event)
        self._receiver.send(lambda: _deliver(callback, event, info))

    def _guarded(self, action: Callable[[], None]) -> Callable[[], None]:
        def guarded() -> None:
            with self.lock:
                action()

        return guarded


def _info(event: WorkEvent) -> WorkInfo:
    work = event.work
    return WorkInfo(
        id=event.id,
        uid=work.uid,
        original_uid=work.original_uid,
        job_priority=work.job_priority,
        effective_priority=work.effective_priority,
        timestamp_ms=event.timestamp_ms,
        device_number=work.device_number,
        debug_pid=work.pid,
        debug_feature_id=work.feature_id,
        group_id=work.group_id,
    )


def _deliver(callback: SchedulingCallback, event: WorkEvent, info: WorkInfo) -> None:
    if event.reason is None:
        callback.on_work_requested(info)
    elif event.kind == "started":
        callback.on_work_started(info, event.reason)
    else:
        callback.on_work_ended(info, event.reason)


def _checked(configs: Iterable[SchedulingConfig]) -> dict[int, SchedulingConfig]:
    by_uid: dict[int, SchedulingConfig] = {}
    for config in configs:
        bounds = (MIN_PRIORITY, config.min_priority, config.priority, config.max_priority, MAX_PRIORITY)
        if list(bounds) != sorted(bounds):
            raise IllegalArgument(f"uid {config.uid}: priorities {bounds} are not in ascending order")
        if config.uid in by_uid:
            raise IllegalArgument(f"uid {config.uid} is named twice")
        by_uid[config.uid] = config
    return by_uid
