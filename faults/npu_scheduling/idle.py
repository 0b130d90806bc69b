"""A scheduling HAL that only checks its arguments: it stores nothing and calls nobody back."""

from __future__ import annotations

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, MAX_PRIORITY, MIN_PRIORITY, SchedulingConfig
from npu_conformance.specs.npu.workload import InferenceRun, Workload, WorkloadCallback
from npu_conformance.specs.plugin import Context, Plugin, Subject


class IdleScheduling(Scheduling):
    """The HAL."""

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        _check(configs)

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        _check(configs)

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        pass


def _check(configs: tuple[SchedulingConfig, ...]) -> None:
    if len({config.uid for config in configs}) < len(configs):
        raise IllegalArgument("a uid comes twice")
    if not all(MIN_PRIORITY <= config.priority <= MAX_PRIORITY for config in configs):
        raise IllegalArgument("a priority is outside 0 to 1000")


class _Unscheduled(Workload):
    """Work that succeeds at once, whatever the configs of the HAL."""

    def run_test_inference(self, run: InferenceRun, callback: WorkloadCallback) -> None:
        callback.on_run_ended(True)


def with_work(context: Context) -> Subject:
    """The HAL beside a workload that does not use it."""
    return Subject(scheduling=IdleScheduling(), workload=_Unscheduled())


plugin = Plugin(
    Manifest(name="npu-scheduling-idle", vendor="npu-conformance-faults", version="1", interfaces=("scheduling",)),
    lambda context: Subject(scheduling=IdleScheduling()),
)
"""The HAL alone. Without work no case can be red, nor show that the HAL does anything."""
