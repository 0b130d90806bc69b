"""Executions of the NN HAL's device, as the npu scheduling HAL of the same NPU reports them."""

from __future__ import annotations

from npu_conformance.reference.device.compute_unit import Job
from npu_conformance.reference.device.scheduler import Work
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.specs.npu.types import EndReason, StartReason


class DeviceWork:
    """Watches a compute unit. An execution is work of the uid that had its model prepared."""

    def __init__(self, service: SchedulingService) -> None:
        self._service = service
        self._works: dict[Job, Work] = {}

    def launched(self, job: Job) -> None:
        """See compute_unit.Watcher."""
        work = self._works[job] = self._service.work_of_device(job.app)
        self._service.report(lambda observer: observer.requested(work))

    def started(self, job: Job) -> None:
        """See compute_unit.Watcher."""
        work = self._works[job]
        reason = StartReason.RESUMED if work.has_started else StartReason.INITIAL
        work.has_started = True
        self._service.report(lambda observer: observer.started(work, reason))

    def stepped_aside(self, job: Job) -> None:
        """See compute_unit.Watcher."""
        work = self._works[job]
        self._service.report(lambda observer: observer.ended(work, EndReason.PAUSED))

    def ended(self, job: Job, succeeded: bool) -> None:
        """See compute_unit.Watcher."""
        work, reason = self._works.pop(job), EndReason.COMPLETED if succeeded else EndReason.FAILED
        self._service.report(lambda observer: observer.ended(work, reason))
