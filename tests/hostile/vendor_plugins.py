"""Plug-ins as a vendor has them in the first days of bring-up, for the tests of commands and pytest."""

from __future__ import annotations

import itertools

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.types import SchedulingConfig
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version


class FirstDay(hal.Device):
    """Answers queries, supports no operation, and rejects no model."""

    def get_capabilities(self) -> types.Capabilities:
        fast = types.PerformanceInfo(exec_time=0.5, power_usage=0.5)
        return types.Capabilities(float32_performance=fast, quantized8_performance=fast)

    def get_status(self) -> int:
        return 0

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return (False,) * len(model.main.operations)


class Moody(FirstDay):
    """Has a status that there is not in each second answer, the first of all among them."""

    def __init__(self) -> None:
        self._answers = itertools.cycle((77, 0))

    def get_status(self) -> int:
        return next(self._answers)


class FirstDayScheduling(Scheduling):
    """Takes configs, and has no callback yet."""

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        if any(not 0 <= config.priority <= 1000 for config in configs):
            raise IllegalArgument("scheduling priorities are 0 to 1000")
        if len({config.uid for config in configs}) < len(configs):
            raise IllegalArgument("a uid has one config")


_MANIFEST = Manifest(
    name="first-day", vendor="tests", version="1", hal_version=Version.V1_0, options={"speed": "how fast"}
)

first_day = Plugin(_MANIFEST, lambda context: Subject(device=FirstDay()))
moody = Plugin(_MANIFEST, lambda context: Subject(device=Moody()))
scheduling = Plugin(
    Manifest(name="first-scheduling", vendor="tests", version="1", interfaces=("scheduling",)),
    lambda context: Subject(scheduling=FirstDayScheduling()),
)
uncontrolled = Plugin(
    Manifest(name="uncontrolled", vendor="tests", version="1", interfaces=("manager",)),
    lambda context: Subject(manager=Manager()),
)
forgotten = Plugin(
    Manifest(name="forgotten", vendor="tests", version="1", interfaces=("manager",)), lambda context: Subject()
)
makes_nothing = Plugin(_MANIFEST, lambda context: None)  # type: ignore[arg-type,return-value]
makes_a_device = Plugin(_MANIFEST, lambda context: FirstDay())  # type: ignore[arg-type,return-value]
takes_nothing = Plugin(_MANIFEST, lambda: Subject(device=FirstDay()))  # type: ignore[arg-type,misc]
manifest_of_nothing = Plugin(lambda: _MANIFEST, lambda context: Subject(device=FirstDay()))  # type: ignore[arg-type,misc]
makes_a_class = Plugin(_MANIFEST, lambda context: Subject(device=FirstDay))  # type: ignore[arg-type]


class OfAnotherVersion(FirstDay):
    """Has the method that prepares models in the form of HAL 1.0."""

    def prepare_model(self, model: types.Model, callback: object) -> None:  # type: ignore[override]
        raise AssertionError("nobody calls this so")


class HalfACharacter(FirstDay):
    """Has a version string that no encoding has a place for, such as Python makes of a path that is no text."""

    def get_version_string(self) -> str:
        return "\udce4"


half_a_character = Plugin(_MANIFEST, lambda context: Subject(device=HalfACharacter()))
of_another_version = Plugin(_MANIFEST, lambda context: Subject(device=OfAnotherVersion()))
number = 3
