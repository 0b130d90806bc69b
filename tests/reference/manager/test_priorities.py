"""Which scheduling configs the reference manager sends to the HAL, when, and how it treats packages and rights."""

from __future__ import annotations

import pytest
from npu_manager import ReferenceFixture, Start, received

from npu_conformance.cts.lib.manager_client import COMPLETE, GRANT, PARKED, WAIT, package_of
from npu_conformance.cts.lib.manager_fixture import LARGE, SETTINGS
from npu_conformance.harness.subject.checked_calls import Checked
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
def device(fixture: ReferenceFixture) -> ReferenceFixture:
    """A manager with no app at all."""
    fixture.control.remove_app(SETTINGS)
    fixture.hal.take()
    return fixture


def config(device: ReferenceFixture, uid: int) -> SchedulingConfig | None:
    """The last config of a uid that the HAL received."""
    pushed = [configs[uid] for name, configs in device.hal.calls if uid in configs]
    return pushed[-1] if pushed else None


def access(device: ReferenceFixture, uid: int) -> bool | None:
    found = config(device, uid)
    return None if found is None else found.has_direct_access


def priority(device: ReferenceFixture, uid: int) -> int | None:
    found = config(device, uid)
    return None if found is None else found.priority


def install(device: ReferenceFixture, uid: int, *, declares: bool = False, sdk: int = 37) -> None:
    device.control.install_app(uid, f"app{uid}", declares, sdk)


def test_connecting_sends_the_whole_table_and_then_the_callback(fixture: ReferenceFixture) -> None:
    app = fixture.app(Importance.VISIBLE)
    fixture.hal.take()
    fixture.control.connect_hal(fixture.hal)
    calls = fixture.hal.take()
    assert calls[-2:] == [("set", FIXED | {SETTINGS: 1000, app.uid: 200}), ("callback", {})]


def test_the_fixed_uids_may_do_everything_and_stay(device: ReferenceFixture) -> None:
    device.control.set_importance(1000, 400)
    device.control.remove_app(0)
    device.control.set_thermal_pressure(ThermalStatus.SHUTDOWN)
    assert device.hal.take() == []
    device.control.connect_hal(device.hal)
    for uid in FIXED:
        assert config(device, uid) == SchedulingConfig(uid, 100, True, True)


def test_importance_is_pushed_alone_and_before_the_policy_acts(device: ReferenceFixture) -> None:
    holder, other = device.app(), device.app(Importance.CACHED)
    device.hal.take()
    holder.loads(LARGE)
    parked = other.asks(LARGE)
    parked.receives(PARKED)
    seen: list[list[str]] = []
    device.manager.watch = lambda record: seen.append([name for name, _ in device.hal.calls])
    other.moves(Importance.FOREGROUND)
    assert device.hal.take() == [("update", {other.uid: 100})]
    assert received(parked) == [[PARKED]]
    holder.moves(Importance.GONE)
    assert device.hal.take() == [("update", {holder.uid: 1000})]
    assert seen == [["update"], ["update"]]


def test_an_unchanged_importance_is_not_pushed(device: ReferenceFixture) -> None:
    app = device.app(Importance.VISIBLE)
    device.hal.take()
    app.moves(Importance.VISIBLE)
    assert device.hal.take() == []


@pytest.mark.parametrize("importance", [-1, 1001])
def test_importance_out_of_range_is_refused(device: ReferenceFixture, importance: int) -> None:
    with pytest.raises(IllegalArgument, match=str(importance)):
        device.control.set_importance(10_001, importance)


def test_a_declaring_app_is_tracked_at_1000_until_more_is_known(device: ReferenceFixture) -> None:
    install(device, 10_001, declares=True)
    assert device.hal.take() == [("update", {10_001: 1000})]


def test_an_early_legacy_app_is_not_tracked_until_it_works(device: ReferenceFixture) -> None:
    install(device, LEGACY, sdk=36)
    device.control.set_importance(LEGACY, Importance.VISIBLE)
    assert device.hal.take() == []
    device.hal.work(LEGACY, EndReason.FAILED)
    device.advance(0)
    assert device.hal.take() == [("update", {LEGACY: 200})]
    device.control.set_importance(LEGACY, Importance.CACHED)
    assert device.hal.take() == [("update", {LEGACY: 400})]


def test_work_for_another_tracks_whom_it_is_for(device: ReferenceFixture) -> None:
    device.hal.work(10_050, EndReason.FAILED, original_uid=10_051)
    device.advance(0)
    assert device.hal.take() == [("update", {10_051: 1000})]
    device.hal.work(10_050, EndReason.FAILED, original_uid=-1)
    device.advance(0)
    assert device.hal.take() == [("update", {10_050: 1000})]


def test_asking_for_a_model_tracks_an_app(device: ReferenceFixture) -> None:
    app = device.app(declares=False, target_sdk=36)
    assert device.hal.take() == []
    assert received(app.asks()) == [[GRANT]]
    assert device.hal.take() == [("update", {app.uid: 100})]


def test_an_undeclared_app_for_the_newest_target_is_blocked_and_logged_once(device: ReferenceFixture) -> None:
    device.control.take_metrics()
    install(device, 10_001)
    assert access(device, 10_001) is False
    device.control.set_importance(10_001, Importance.VISIBLE)
    install(device, 10_001)
    blocks = [atom.values for atom in device.control.take_metrics() if atom.name == "NpuAppBlocked"]
    assert blocks == [{"uid": 10_001}]


def test_a_blocked_app_may_ask_for_models(device: ReferenceFixture) -> None:
    app = device.app()
    device.control.update_app(app.uid, False, 37)
    assert received(app.asks()) == [[GRANT]]


@pytest.mark.parametrize("required", [True, False])
def test_a_declaration_counts_whether_required_or_not(device: ReferenceFixture, required: bool) -> None:
    device.control.install_app(10_001, "app", True, 37, required)
    assert access(device, 10_001) is True


def test_blocking_is_a_flag(device: ReferenceFixture) -> None:
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, False)
    install(device, 10_001)
    assert config(device, 10_001) is None
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, True)
    assert access(device, 10_001) is False
    device.control.set_flag(Flag.BLOCK_MISSING_FEATURE, False)
    assert access(device, 10_001) is True
    with pytest.raises(IllegalArgument, match="no_such"):
        device.control.set_flag("no_such", True)


def test_an_update_judges_access_anew_and_keeps_the_priority(device: ReferenceFixture) -> None:
    install(device, 10_001)
    device.control.set_importance(10_001, Importance.VISIBLE)
    device.control.update_app(10_001, True, 37)
    assert config(device, 10_001) == SchedulingConfig(10_001, 200, True, False)
    with pytest.raises(IllegalArgument, match="10099"):
        device.control.update_app(10_099, True, 37)


def test_the_holder_of_the_permission_may_attribute(device: ReferenceFixture) -> None:
    install(device, 10_001, declares=True)
    device.control.grant_permission(10_001, ATTRIBUTION_PERMISSION, True)
    assert config(device, 10_001) == SchedulingConfig(10_001, 1000, True, True)
    device.control.grant_permission(10_001, ATTRIBUTION_PERMISSION, False)
    assert config(device, 10_001) == SchedulingConfig(10_001, 1000, True, False)


def test_a_removed_app_is_forgotten_here_and_at_the_hal(device: ReferenceFixture) -> None:
    app = device.app()
    app.loads()
    device.hal.take()
    device.control.remove_app(app.uid)
    assert device.hal.take() == [("set", FIXED)]
    device.control.set_importance(app.uid, Importance.VISIBLE)
    assert device.hal.take() == []
    assert device.manager.policy.used == 0


def test_a_reinstalled_app_starts_at_1000(device: ReferenceFixture) -> None:
    app = device.app(Importance.FOREGROUND)
    device.hal.take()
    device.control.install_app(app.uid, package_of(app.uid), True, 37)
    assert device.hal.take() == [("update", {app.uid: 1000})]


def test_in_the_pages_profile_the_undeclared_are_never_ranked(start: Start) -> None:
    device = start(declared_only="yes")
    declared = device.app(Importance.CACHED)
    legacy = device.app(Importance.FOREGROUND, declares=False, target_sdk=36)
    held, wanted = legacy.loads(), declared.asks()
    assert received(held, wanted) == [[GRANT, ("unload", UnloadReason.FOREGROUND_PREEMPTION)], [WAIT]]
    assert priority(device, legacy.uid) == 1000
    device.control.update_app(legacy.uid, True, 36)
    assert priority(device, legacy.uid) == 100


def test_a_dead_hal_costs_nothing_but_itself_and_its_successor_gets_everything(device: ReferenceFixture) -> None:
    app = device.app(Importance.VISIBLE)
    held = app.loads()
    device.hal.take()
    device.hal.dead = True
    app.moves(Importance.CACHED)
    device.hal.dead = False
    app.moves(Importance.FOREGROUND)
    assert device.hal.take() == []
    device.control.connect_hal(device.hal)
    assert device.hal.take()[-2:] == [("set", FIXED | {app.uid: 100}), ("callback", {})]
    held.unload()
    assert received(held) == [[GRANT, COMPLETE]]


def test_a_killed_hal_has_lost_configs_and_callback(device: ReferenceFixture) -> None:
    device.control.kill_hal()
    assert device.hal.callback is None
    assert device.hal.take() == [("callback", {}), ("set", {})]
    app = device.app()
    assert device.hal.take() == []
    device.control.connect_hal(None)
    assert device.hal.take()[-2:] == [("set", FIXED | {app.uid: 100}), ("callback", {})]
    assert device.hal.callback is not None


def test_heat_weakens_what_is_not_in_the_foreground_within_bounds(device: ReferenceFixture) -> None:
    _, _, visible, cached, weakest = (device.app(importance).uid for importance in (100, 125, 200, 400, 950))
    device.hal.take()
    device.control.set_thermal_pressure(ThermalStatus.MODERATE)
    assert device.hal.take() == []
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    assert device.hal.take() == [("update", {visible: 300, cached: 500, weakest: 1000})]
    device.control.set_memory_pressure(MemoryPressure.CRITICAL)
    assert device.hal.take() == [("update", {visible: 400, cached: 600})]
    device.control.set_memory_pressure(MemoryPressure.NONE)
    device.control.set_thermal_pressure(ThermalStatus.NONE)
    assert device.hal.take()[-1] == ("update", {visible: 200, cached: 400, weakest: 950})


@pytest.mark.parametrize("level", [-1, 7])
def test_unknown_levels_are_refused(device: ReferenceFixture, level: int) -> None:
    with pytest.raises(IllegalArgument, match="thermal"):
        device.control.set_thermal_pressure(level)
    with pytest.raises(IllegalArgument, match="memory"):
        device.control.set_memory_pressure(level)


def test_the_service_is_there_with_feature_and_flag_only(device: ReferenceFixture) -> None:
    service = device.control.get_system_service("npu")
    assert isinstance(service, Checked)
    assert service.target is device.manager
    assert device.control.get_system_service("npu2") is None
    device.control.set_device_feature(False)
    assert device.control.get_system_service("npu") is None
    device.control.set_device_feature(True)
    device.control.set_flag(Flag.ENABLED, False)
    assert device.control.get_system_service("npu") is None


def test_packages_that_share_a_uid_have_one_name_and_one_config(device: ReferenceFixture) -> None:
    app = device.app(Importance.VISIBLE)
    device.control.install_app(app.uid, "second", False, 37)
    assert config(device, app.uid) == SchedulingConfig(app.uid, 200, False, False)
    packages = [each.package for each in device.control.take_snapshot().apps if each.uid == app.uid]
    assert packages == [package_of(app.uid)]
    assert received(app.asks()) == [[GRANT]]
    device.control.install_app(app.uid, "third", True, 37)
    assert access(device, app.uid) is True
    device.hal.take()
    device.control.remove_app(app.uid)
    (removal,) = device.hal.take()
    assert removal == ("set", FIXED)
