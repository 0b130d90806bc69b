"""The reference npu scheduling HAL's table of configs."""

from __future__ import annotations

import pytest

from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import SchedulingConfig


def config(uid: int, priority: int, **fields: int) -> SchedulingConfig:
    return SchedulingConfig(uid, priority, True, False, **fields)


def test_setting_replaces_everything_and_updating_only_the_named_uids() -> None:
    service = SchedulingService()
    service.set_scheduling_configs((config(1, 10), config(2, 20)))
    service.update_scheduling_configs((config(2, 25), config(3, 30)))
    assert [service.config(uid).priority for uid in (1, 2, 3)] == [10, 25, 30]
    service.set_scheduling_configs((config(4, 40),))
    assert [service.config(uid).priority for uid in (1, 4)] == [1000, 40]


def test_an_empty_list_clears_all_only_when_set() -> None:
    service = SchedulingService()
    service.set_scheduling_configs((config(1, 10),))
    service.update_scheduling_configs(())
    assert service.config(1).priority == 10
    service.set_scheduling_configs(())
    assert service.config(1).priority == 1000


def test_a_uid_without_config_is_weakest_with_direct_access_and_no_attribution() -> None:
    found = SchedulingService().config(7)
    assert (found.priority, found.has_direct_access, found.can_attribute_other_uid) == (1000, True, False)


@pytest.mark.parametrize("call", ["set_scheduling_configs", "update_scheduling_configs"])
@pytest.mark.parametrize(
    "bad",
    [
        (config(1, -1),),
        (config(1, 1001),),
        (config(1, 1), config(1, 2)),
        (config(1, 5, min_priority=6),),
        (config(1, 5, max_priority=4),),
        (config(1, 5, min_priority=-1),),
        (config(1, 5, max_priority=1001),),
    ],
)
def test_a_refused_call_changes_nothing(call: str, bad: tuple[SchedulingConfig, ...]) -> None:
    service = SchedulingService()
    service.set_scheduling_configs((config(9, 90),))
    with pytest.raises(IllegalArgument, match="uid 1"):
        getattr(service, call)((config(9, 91), *bad))
    assert service.config(9).priority == 90


@pytest.mark.parametrize("priority", [0, 1000])
def test_the_bounds_are_legal(priority: int) -> None:
    service = SchedulingService()
    service.set_scheduling_configs((config(1, priority),))
    assert service.config(1).priority == priority


def test_a_negative_debounce_time_is_refused() -> None:
    with pytest.raises(IllegalArgument, match="-1 ms"):
        SchedulingService().set_callback(None, -1)
