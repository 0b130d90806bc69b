"""The npu scheduling HAL: android.hardware.npu.IScheduling and its callback. Since Android 17 (v1)."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, SchedulingConfig, WorkInfo


class SchedulingCallback(Interface):
    """Receives work events, debounced per uid (NPU-HAL-019 to -027)."""

    @method(oneway=True)
    def on_work_requested(self, work: WorkInfo) -> None:
        """Work was queued."""
        raise refuse("SchedulingCallback.onWorkRequested")

    @method(oneway=True)
    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        """Work began. reason: StartReason."""
        raise refuse("SchedulingCallback.onWorkStarted")

    @method(oneway=True)
    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        """Work ended. reason: EndReason."""
        raise refuse("SchedulingCallback.onWorkEnded")


class Scheduling(Interface):
    """The vendor's side: takes app priorities, reports work. Errors: IllegalArgument (NPU-HAL-004, -005)."""

    @method()
    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace every config set before; an empty list clears all."""
        raise refuse("Scheduling.setSchedulingConfigs")

    @method()
    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Add or replace the configs of the named uids; leave the others."""
        raise refuse("Scheduling.updateSchedulingConfigs")

    @method()
    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        """Replace the callback; None removes it. debounce_duration_ms only in the public page's profile."""
        raise refuse("Scheduling.setCallback")
