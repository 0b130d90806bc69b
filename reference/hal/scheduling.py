"""The reference npu scheduling HAL: the table of priorities and rights by uid, and the callback."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, MAX_PRIORITY, MIN_PRIORITY, SchedulingConfig


class SchedulingService(Scheduling):
    """Holds what the manager pushed. A call is checked whole before anything changes (NPU-HAL-006)."""

    def __init__(self) -> None:
        self._configs: dict[int, SchedulingConfig] = {}
        self.callback: SchedulingCallback | None = None
        self.debounce_duration_ms = DEBOUNCE_DURATION_MS

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace all configs. IllegalArgument: NPU-HAL-004, -005, -036."""
        self._configs = _checked(configs)

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace or add the configs of the named uids. IllegalArgument: NPU-HAL-004, -005, -036."""
        self._configs |= _checked(configs)

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        """Replace the callback; null removes it. IllegalArgument: a negative debounce time."""
        if debounce_duration_ms < 0:
            raise IllegalArgument(f"debounce duration {debounce_duration_ms} ms is negative")
        self.callback, self.debounce_duration_ms = callback, debounce_duration_ms

    def config(self, uid: int) -> SchedulingConfig:
        """The config of a uid: without one, the weakest priority, direct access and no attribution (NPU-HAL-007)."""
        default = SchedulingConfig(uid, MAX_PRIORITY, has_direct_access=True, can_attribute_other_uid=False)
        return self._configs.get(uid, default)


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
