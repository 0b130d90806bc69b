"""Executions of the NN HAL's device as work of the npu scheduling HAL, which decides whose is done first."""

from __future__ import annotations

from npu_conformance.reference.device.compute_unit import ComputeUnit
from npu_conformance.reference.device.scheduler import Work
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.specs.errors import SecurityDenied, ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.npu.types import EndReason
from npu_conformance.specs.npu.workload import DEFAULT_JOB_PRIORITY


class DeviceWork:
    """The apps of a compute unit (compute_unit.Apps), by the configs of the scheduling HAL.

    An execution is work of the uid that had its model prepared. Works of one uid are alike, so it does not matter which
    of them stands for which execution.
    """

    unit: ComputeUnit

    def __init__(self, service: SchedulingService) -> None:
        self.lock = service.lock
        self._service, self._scheduler = service, service.scheduler
        self._running: Work | None = None
        self._waiting: dict[int, list[Work]] = {}

    def ask(self, app: int) -> None:
        """Queue work. Raises ServiceError(GENERAL_FAILURE) for an app without direct access (NPU-HAL-011)."""
        work = Work(app, 0, app, DEFAULT_JOB_PRIORITY, None, on_start=self._started)
        self._waiting.setdefault(app, []).append(work)
        try:
            self._service.submit_execution(work)
        except SecurityDenied as error:
            self._waiting[app].remove(work)
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def withdraw(self, app: int) -> None:
        """End work that waits, if possible work that has not begun: reported pauses must be resumed (NPU-HAL-041)."""
        work = min(self._waiting[app], key=lambda one: one.has_started)
        self._waiting[app].remove(work)
        self._scheduler.end(work, EndReason.FAILED)

    def end(self, app: int, succeeded: bool) -> None:
        """End the work that has the device."""
        self._scheduler.end(self._left(), EndReason.COMPLETED if succeeded else EndReason.FAILED)

    def is_to_yield(self, app: int) -> bool:
        """True where work with a smaller effective priority waits (NPU-HAL-009)."""
        return self._running is not None and self._scheduler.is_to_yield(self._running)

    def step_aside(self, app: int) -> None:
        """Pause the work that has the device."""
        work = self._left()
        self._waiting[app].append(work)
        self._scheduler.step_aside(work)

    def _started(self, work: Work) -> None:
        self._waiting[work.uid].remove(work)
        self._running = work
        self.unit.start(work.uid)

    def _left(self) -> Work:
        """The work that has had the device until now."""
        work, self._running = self._running, None
        assert work is not None
        return work
