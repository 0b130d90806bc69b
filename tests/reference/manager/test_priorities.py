"""Which scheduling configs the reference manager sends to the HAL, when, and what it makes of packages and rights."""

from __future__ import annotations

import pytest
from npu_device import CAN, LARGE, PARKED, WAIT, Device

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    EndReason,
    Flag,
    Importance,
    MemoryPressure,
    SchedulingConfig,
    ThermalStatus,
    UnloadReason,
)

FIXED = {0: 100, 1000: 100}
LEGACY = 10_100


@pytest.fixture
def device() -> Device:
    device = Device()
    device.control.remove_app(device.admin.uid)
    device.hal.take()
    return device


def config(device: Device, uid: int) -> SchedulingConfig | None:
    """What the HAL was last told of a uid."""
    told = [configs[uid] for name, configs in device.hal.calls if uid in configs]
    return told[-1] if told else None


def access(device: Device, uid: int) -> bool | None:
    told = config(device, uid)
    return None if told is None else told.has_direct_access


def priority(device: Device, uid: int) -> int | None:
    told = config(device, uid)
    return None if told is None else told.priority


def install(device: Device, uid: int, *, declares: bool = False, sdk: int = 37) -> None:
    device.control.install_app(uid, f"app{uid}", declares, sdk)


def test_connecting_sends_the_whole_table_and_then_the_callback() -> None:
    device = Device()
    device.app(10_001, Importance.VISIBLE)
    device.hal.take()
    device.control.connect_hal(device.hal)
    calls = device.hal.take()
    assert calls[-2:] == [("set", FIXED | {10_000: 100, 10_001: 200}), ("callback", {})]


def test_the_fixed_uids_may_do_everything_and_stay(device: Device) -> None:
    device.control.set_importance(1000, 400)
    device.control.remove_app(0)
    device.control.set_thermal_pressure(ThermalStatus.SHUTDOWN)
    assert device.hal.take() == []
    device.control.connect_hal(device.hal)
    for uid in FIXED:
        assert config(device, uid) == SchedulingConfig(uid, 100, True, True)


def test_importance_is_pushed_alone_and_before_the_policy_acts(device: Device) -> None:
    holder, other = device.app(10_001), device.app(10_002, Importance.CACHED)
    device.hal.take()
    holder.load(1, LARGE)
    heard = other.ask(1, LARGE)
    seen: list[list[str]] = []
    device.manager.watch = lambda record: seen.append([name for name, _ in device.hal.calls])
    other.become(Importance.FOREGROUND)
    assert device.hal.take() == [("update", {10_002: 100})]
    assert heard == [PARKED]
    holder.become(Importance.GONE)
    assert device.hal.take() == [("update", {10_001: 1000})]
    assert seen == [["update"], ["update"]]


def test_an_unchanged_importance_is_not_pushed(device: Device) -> None:
    app = device.app(10_001, Importance.VISIBLE)
    device.hal.take()
    app.become(Importance.VISIBLE)
    assert device.hal.take() == []


@pytest.mark.parametrize("importance", [-1, 1001])
def test_importance_out_of_range_is_refused(device: Device, importance: int) -> None:
    with pytest.raises(IllegalArgument, match=str(importance)):
        device.control.set_importance(10_001, importance)


def test_a_declaring_app_is_tracked_at_1000_until_more_is_known(device: Device) -> None:
    install(device, 10_001, declares=True)
    assert device.hal.take() == [("update", {10_001: 1000})]


def test_an_early_legacy_app_is_not_tracked_until_it_works(device: Device) -> None:
    install(device, LEGACY, sdk=36)
    device.control.set_importance(LEGACY, Importance.VISIBLE)
    assert device.hal.take() == []
    device.hal.work(LEGACY, EndReason.FAILED)
    device.advance(0)
    assert device.hal.take() == [("update", {LEGACY: 200})]
    device.control.set_importance(LEGACY, Importance.CACHED)
    assert device.hal.take() == [("update", {LEGACY: 400})]


def test_work_for_another_tracks_whom_it_is_for(device: Device) -> None:
    device.hal.work(10_050, EndReason.FAILED, original_uid=10_051)
    device.advance(0)
    assert device.hal.take() == [("update", {10_051: 1000})]
    device.hal.work(10_050, EndReason.FAILED, original_uid=-1)
    device.advance(0)
    assert device.hal.take() == [("update", {10_050: 1000})]


def test_asking_for_a_model_tracks_an_app(device: Device) -> None:
    install(device, LEGACY, sdk=36)
    app = device.app(LEGACY)
    assert device.hal.take() == []
    assert app.ask(1) == [CAN]
    assert device.hal.take() == [("update", {LEGACY: 100})]


def test_an_undeclared_app_for_the_newest_target_is_blocked_and_logged_once(device: Device) -> None:
    device.control.take_metrics()
    install(device, 10_001)
    assert access(device, 10_001) is False
    device.control.set_importance(10_001, Importance.VISIBLE)
    install(device, 10_001)
    blocks = [atom.values for atom in device.control.take_metrics() if atom.name == "NpuAppBlocked"]
    assert blocks == [{"uid": 10_001}]


def test_a_blocked_app_may_ask_for_models(device: Device) -> None:
    app = device.app(10_001)
    device.control.update_app(10_001, False, 37)
    assert app.ask(1) == [CAN]


@pytest.mark.parametrize("required", [True, False])
def test_a_declaration_counts_whether_required_or_not(device: Device, required: bool) -> None:
    device.control.install_app(10_001, "app", True, 37, required)
    assert access(device, 10_001) is True


def test_blocking_is_a_flag(device: Device) -> None:
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, False)
    install(device, 10_001)
    assert config(device, 10_001) is None
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, True)
    assert access(device, 10_001) is False
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, False)
    assert access(device, 10_001) is True
    with pytest.raises(IllegalArgument, match="no_such"):
        device.control.set_flag("no_such", True)


def test_an_update_judges_access_anew_and_keeps_the_priority(device: Device) -> None:
    install(device, 10_001)
    device.control.set_importance(10_001, Importance.VISIBLE)
    device.control.update_app(10_001, True, 37)
    assert config(device, 10_001) == SchedulingConfig(10_001, 200, True, False)
    with pytest.raises(IllegalArgument, match="10099"):
        device.control.update_app(10_099, True, 37)


def test_the_holder_of_the_permission_may_attribute(device: Device) -> None:
    install(device, 10_001, declares=True)
    device.control.grant_permission(10_001, ATTRIBUTION_PERMISSION, True)
    assert config(device, 10_001) == SchedulingConfig(10_001, 1000, True, True)
    device.control.grant_permission(10_001, ATTRIBUTION_PERMISSION, False)
    assert config(device, 10_001) == SchedulingConfig(10_001, 1000, True, False)


def test_a_removed_app_is_forgotten_here_and_at_the_hal(device: Device) -> None:
    app = device.app(10_001)
    app.load(1)
    device.hal.take()
    device.control.remove_app(10_001)
    assert device.hal.take() == [("set", FIXED)]
    device.control.set_importance(10_001, Importance.VISIBLE)
    assert device.hal.take() == []
    assert device.manager.policy.used == 0


def test_a_reinstalled_app_starts_at_1000(device: Device) -> None:
    device.app(10_001, Importance.FOREGROUND)
    device.hal.take()
    install(device, 10_001, declares=True)
    assert device.hal.take() == [("update", {10_001: 1000})]


def test_in_the_pages_profile_the_undeclared_are_never_ranked() -> None:
    device = Device(declared_only=True)
    declared = device.app(10_001, Importance.CACHED)
    install(device, LEGACY, sdk=36)
    legacy = device.app(LEGACY, Importance.FOREGROUND)
    held = legacy.load(1)
    assert declared.ask(1) == [WAIT]
    assert held == [CAN, ("unload", UnloadReason.FOREGROUND_PREEMPTION)]
    assert priority(device, LEGACY) == 1000
    device.control.update_app(LEGACY, True, 36)
    assert priority(device, LEGACY) == 100


def test_a_dead_hal_costs_nothing_but_itself_and_its_successor_gets_everything(device: Device) -> None:
    app = device.app(10_001, Importance.VISIBLE)
    held = app.load(1)
    device.hal.take()
    device.hal.dead = True
    app.become(Importance.CACHED)
    device.hal.dead = False
    app.become(Importance.FOREGROUND)
    assert device.hal.take() == []
    device.control.connect_hal(device.hal)
    assert device.hal.take()[-2:] == [("set", FIXED | {10_001: 100}), ("callback", {})]
    app.unloaded(1)
    assert held == [CAN, 4]


def test_a_killed_hal_has_lost_configs_and_callback(device: Device) -> None:
    device.control.kill_hal()
    assert device.hal.callback is None
    assert device.hal.take() == [("callback", {}), ("set", {})]
    device.app(10_001)
    assert device.hal.take() == []
    device.control.connect_hal(None)
    assert device.hal.take()[-2:] == [("set", FIXED | {10_001: 100}), ("callback", {})]
    assert device.hal.callback is not None


def test_heat_weakens_what_is_not_in_the_foreground_within_bounds(device: Device) -> None:
    importances = (100, 125, 200, 400, 950)
    for index, importance in enumerate(importances):
        device.app(10_001 + index, importance)
    device.hal.take()
    device.control.set_thermal_pressure(ThermalStatus.MODERATE)
    assert device.hal.take() == []
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    assert device.hal.take() == [("update", {10_003: 300, 10_004: 500, 10_005: 1000})]
    device.control.set_memory_pressure(MemoryPressure.CRITICAL)
    assert device.hal.take() == [("update", {10_003: 400, 10_004: 600})]
    device.control.set_memory_pressure(MemoryPressure.NONE)
    device.control.set_thermal_pressure(ThermalStatus.NONE)
    assert device.hal.take()[-1] == ("update", {10_003: 200, 10_004: 400, 10_005: 950})


@pytest.mark.parametrize("level", [-1, 7])
def test_unknown_levels_are_refused(device: Device, level: int) -> None:
    with pytest.raises(IllegalArgument, match="thermal"):
        device.control.set_thermal_pressure(level)
    with pytest.raises(IllegalArgument, match="memory"):
        device.control.set_memory_pressure(level)


def test_the_service_is_there_with_feature_and_flag_only(device: Device) -> None:
    assert device.control.get_system_service("npu") is device.manager
    assert device.control.get_system_service("npu2") is None
    device.control.set_device_feature(False)
    assert device.control.get_system_service("npu") is None
    device.control.set_device_feature(True)
    device.control.set_flag(Flag.ENABLED, False)
    assert device.control.get_system_service("npu") is None


def test_packages_that_share_a_uid_have_one_name_and_one_config(device: Device) -> None:
    app = device.app(10_001, Importance.VISIBLE)
    device.control.install_app(10_001, "second", False, 37)
    assert config(device, 10_001) == SchedulingConfig(10_001, 200, False, False)
    assert [one.package for one in device.control.take_snapshot().apps if one.uid == 10_001] == ["app10001"]
    assert app.ask(1) == [CAN]
    device.control.install_app(10_001, "third", True, 37)
    assert access(device, 10_001) is True
    device.hal.take()
    device.control.remove_app(10_001)
    (removal,) = device.hal.take()
    assert removal == ("set", FIXED)
