"""Plug-ins that come as far as one grade of `npu-conformance check`, and no further."""

from __future__ import annotations

from typing import NoReturn

from vendor_plugins import FirstDayScheduling

from npu_conformance.faults import registry
from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.factories import faulty_device
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.specs.errors import IllegalArgument, Unsupported
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, SchedulingConfig
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST


class IdleScheduling(FirstDayScheduling):
    """Takes every legal call, and never reports work."""

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self.set_scheduling_configs(configs)

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        if debounce_duration_ms < 0:
            raise IllegalArgument("no time is negative")


def _marks_no_output(context: Context) -> Subject:
    """The reference, which does not mark outputs that do not fit: some executions are wrong."""
    mechanism = registry.faults()["insufficient-marks-none"].mechanism
    assert isinstance(mechanism, FaultySubject)
    return mechanism.create(context, NEWEST)


class _LacksItsVersion(FaultyDevice):
    def get_version_string(self) -> NoReturn:
        raise Unsupported("Device.getVersionString is not implemented")


idle = Plugin(
    Manifest(name="idle-scheduling", vendor="tests", version="1", interfaces=("scheduling",)),
    lambda context: Subject(scheduling=IdleScheduling()),
)
lacking = Plugin(
    Manifest(name="lacking", vendor="tests", version="1", hal_version=NEWEST),
    lambda context: faulty_device(_LacksItsVersion).create(context, NEWEST),
)
half_right = Plugin(Manifest(name="half-right", vendor="tests", version="1", hal_version=NEWEST), _marks_no_output)
