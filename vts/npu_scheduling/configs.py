"""Configs that the HAL takes, and those that it rejects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import MAX_PRIORITY, MIN_PRIORITY, SchedulingConfig
from npu_conformance.vts.lib.npu_scheduling.fixture import (
    ASSISTANT,
    CAMERA,
    GALLERY,
    config,
    scheduling,
    scheduling_fixture,
)

cases = CaseGroup("vts.npu_scheduling.configs", interface="scheduling", group=Group.SCHEDULING_VALIDATION)

_CALLS = {"set": "set_scheduling_configs", "update": "update_scheduling_configs"}
_OUTSIDE = {"minus_1": -1, "1001": 1001, "smallest": -(2**31), "largest": 2**31 - 1}
_IN_DISORDER = {
    "below_own_minimum": (299, 300, 400),
    "above_own_maximum": (401, 300, 400),
    "crossed_own_bounds": (350, 400, 300),
    "own_minimum_below_0": (5, -1, 1000),
    "own_maximum_above_1000": (5, 0, 1001),
    "above_own_maximum_of_0": (5, 0, 0),
}
"""A priority with its own minimum and maximum."""
_MANY = 2000


@cases.case("implements_hal", "NPU-ACC-006", scope=Scope.SMOKE)
def implements_hal(context: CaseContext) -> None:
    """A subject that names the scheduling HAL has it, and it answers (AOSP: NpuFeature.ImplementsHal)."""
    checks.succeeds(lambda: scheduling(context).set_scheduling_configs(()), "setSchedulingConfigs")


def _call(context: CaseContext, name: str, *configs: SchedulingConfig) -> Callable[[], None]:
    function: Any = getattr(scheduling(context), _CALLS[name])
    return lambda: function(configs)


def _expect_rejected(context: CaseContext, name: str, what: str, *configs: SchedulingConfig) -> None:
    with scheduling_fixture(context):
        checks.raises(_call(context, name, *configs), IllegalArgument, f"{what}, by {_CALLS[name]}")


def _accepted(context: CaseContext, name: str, what: str, *configs: SchedulingConfig) -> None:
    with scheduling_fixture(context):
        checks.succeeds(_call(context, name, *configs), f"{what}, by {_CALLS[name]}")


def _declare_accepted(name: str) -> None:
    @cases.case(f"{name}.valid", "NPU-HAL-038", scope=Scope.SMOKE)
    def valid(context: CaseContext) -> None:
        """A config with every right in the middle of the range is taken (AOSP: (Set|Update)SchedulingConfigs)."""
        _accepted(context, name, "a valid config", config(1001, 500, attribute=True))

    @cases.case(f"{name}.bounds", "NPU-HAL-004")
    def bounds(context: CaseContext) -> None:
        """The strongest and the weakest priority are taken."""
        _accepted(context, name, "priorities 0 and 1000", config(CAMERA, MIN_PRIORITY), config(ASSISTANT, MAX_PRIORITY))

    @cases.case(f"{name}.empty", "NPU-HAL-002" if name == "set" else "NPU-HAL-003")
    def empty(context: CaseContext) -> None:
        """A list without configs is taken."""
        _accepted(context, name, "an empty list")

    @cases.case(f"{name}.equal_priorities", "NPU-HAL-005")
    def equal_priorities(context: CaseContext) -> None:
        """Several uids may have one priority; only a uid may not come twice."""
        _accepted(context, name, "two uids of one priority", config(CAMERA, 7), config(ASSISTANT, 7))

    @cases.case(f"{name}.many", "NPU-HAL-038")
    def many(context: CaseContext) -> None:
        """A device has many apps: thousands of configs are taken in one call."""
        _accepted(context, name, f"{_MANY} configs", *(config(10_000 + index, index % 1001) for index in range(_MANY)))


def _declare_duplicates(name: str) -> None:
    @cases.case(f"{name}.duplicate_uid", "NPU-HAL-005")
    def duplicate_uid(context: CaseContext) -> None:
        """A uid that comes twice in one call is rejected (AOSP: SetSchedulingConfigsDuplicateUid)."""
        _expect_rejected(context, name, "a uid twice", config(CAMERA, 1), config(ASSISTANT, 2), config(CAMERA, 3))

    @cases.case(f"{name}.duplicate_config", "NPU-HAL-005")
    def duplicate_config(context: CaseContext) -> None:
        """The same config twice in one call is rejected, as its uid comes twice, too."""
        _expect_rejected(context, name, "a config twice", config(CAMERA, 1), config(CAMERA, 1))


def _declare_own_bounds(name: str) -> None:
    @cases.case(f"{name}.own_bounds", "NPU-HAL-036", "NPU-HAL-038")
    def own_bounds(context: CaseContext) -> None:
        """In the public page's profile a config may have bounds of its own around its priority, and later ones not."""
        with scheduling_fixture(context) as npu:
            npu.need_profile_of_page()
            given = (
                SchedulingConfig(CAMERA, 300, True, False, 300, 300),
                SchedulingConfig(GALLERY, 5, True, False, 0, 9),
            )
            checks.succeeds(_call(context, name, *given), "configs within their own bounds")
            later = (config(CAMERA, 900), SchedulingConfig(GALLERY, 10, True, False, 10, 10))
            checks.succeeds(_call(context, name, *later), "configs beyond the bounds that their uids had before")


def _declare_outside(name: str, spelled: str, priority: int) -> None:
    @cases.case(f"{name}.priority_{spelled}", "NPU-HAL-004")
    def outside(context: CaseContext) -> None:
        """A priority outside 0 to 1000 is rejected, also behind a good one (AOSP: ...InvalidPriority)."""
        _expect_rejected(context, name, f"priority {priority}", config(ASSISTANT, 500), config(CAMERA, priority))


def _declare_disorder(name: str, spelled: str, wrong: SchedulingConfig) -> None:
    @cases.case(f"{name}.{spelled}", "NPU-HAL-036")
    def disorder(context: CaseContext) -> None:
        """In the public page's profile a config whose bounds and priority are not in order is rejected."""
        with scheduling_fixture(context) as npu:
            npu.need_profile_of_page()
            checks.raises(_call(context, name, wrong), IllegalArgument, f"{wrong}")


for _name in _CALLS:
    _declare_accepted(_name)
    for _spelled, _priority in _OUTSIDE.items():
        _declare_outside(_name, _spelled, _priority)
    _declare_duplicates(_name)
    _declare_own_bounds(_name)
    for _spelled, _bounds in _IN_DISORDER.items():
        _declare_disorder(_name, _spelled, SchedulingConfig(CAMERA, _bounds[0], True, False, *_bounds[1:]))
