"""Priorities under heat and lack of memory: they may weaken, and nobody gets ahead of a more important app by that."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.cts.lib.manager_client import GRANT
from npu_conformance.cts.lib.manager_fixture import LARGE, UNLOAD, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_pressure import HEAT, SHORTAGE, Press, heat, pressed, shortage
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import MAX_PRIORITY, Importance, ThermalStatus

cases = CaseGroup("cts.npu_manager.pressure", interface="manager", group=Group.MANAGER_PRIORITIES)

_IMPORTANCES = (
    Importance.FOREGROUND,
    Importance.VISIBLE,
    Importance.SERVICE,
    Importance.CACHED,
    Importance.GONE,
)
"""The strongest first."""
_LEVELS: tuple[tuple[Press, int], ...] = (
    *((heat, level) for level in HEAT),
    *((shortage, level) for level in SHORTAGE),
)


@cases.case("priorities_in_range", "NPU-PRI-001", "NPU-PRI-015", "NPU-PRI-005")
def priorities_in_range(context: CaseContext) -> None:
    """Pressure may weaken priorities: then they stay within 0 to 1000, never get stronger, and come back at its end."""
    fixture = ManagerFixture(context)
    apps = {fixture.app(importance): importance for importance in _IMPORTANCES}
    with recording_hal(fixture) as hal:
        with pressed(fixture, heat, ThermalStatus.SHUTDOWN):
            for app, importance in apps.items():
                found = hal.counted(app.uid)
                what = f"priority of uid {app.uid} of importance {importance} under pressure"
                checks.that(importance <= found <= MAX_PRIORITY, f"{what}: found {found}")
        for app, importance in apps.items():
            hal.expect(app.uid, importance)


@cases.case("any_importance_comes_back", "NPU-PRI-002", "NPU-PRI-015")
def any_importance_comes_back(context: CaseContext) -> None:
    """However weak pressure has made an app, its priority is its importance when that ends."""
    fixture = ManagerFixture(context)
    app = fixture.app(Importance.CACHED)
    with recording_hal(fixture) as hal:
        for importance in (550, 600, 601, 799, 800, 801, 900, 901, 999):
            try:
                app.moves(importance)
            except IllegalArgument as error:
                raise NotApplicable(f"importance {importance} cannot be set: {error}") from None
            for press, level in _LEVELS:
                with pressed(fixture, press, level):
                    pass
                hal.expect(app.uid, importance)


@cases.case("pushed_before_unloads", "NPU-PRI-005", "NPU-PRI-015")
def pushed_before_unloads(context: CaseContext) -> None:
    """Priorities that pressure weakens are at the HAL before any app is asked to unload for it."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        held = fixture.app(Importance.CACHED).loads(LARGE)
        fixture.settle()
        received, before = sum(len(client.recorder.events) for client in fixture.clients), len(hal.pushes)
        with pressed(fixture, heat, ThermalStatus.SHUTDOWN):
            held.receives(GRANT, UNLOAD)
            checks.equal({*hal.received_at_push[before:]} - {received}, set(), "callbacks before a push of priorities")


@cases.case("order_is_kept", "NPU-HAL-037", "NPU-PRI-002", "NPU-PRI-015")
def order_is_kept(context: CaseContext) -> None:
    """However hot or short of memory the device is, no app gets ahead of a more important one by it."""
    fixture = ManagerFixture(context)
    apps = {fixture.app(importance): importance for importance in _IMPORTANCES}
    with recording_hal(fixture) as hal:
        for app, importance in apps.items():
            hal.expect(app.uid, importance)
        for press, level in _LEVELS:
            with pressed(fixture, press, level):
                fixture.wait(lambda: _priorities(hal, apps) == sorted(_priorities(hal, apps)))
                found = _priorities(hal, apps)
                checks.equal(
                    found, sorted(found), f"priorities of apps under pressure {level}, the most important first"
                )


def _priorities(hal: RecordingHal, apps: Iterable[ClientApp]) -> list[int]:
    return [hal.counted(app.uid) for app in apps]


@cases.case("newcomers", "NPU-HAL-037", "NPU-PRI-002", "NPU-PRI-015")
def newcomers(context: CaseContext) -> None:
    """An app whose work is first seen under pressure does not get ahead of a more important one by it."""
    for press, level in ((heat, HEAT[-1]), (shortage, SHORTAGE[-1])):
        fixture = ManagerFixture(context)
        known = fixture.app(Importance.PERCEPTIBLE)
        new = fixture.app(Importance.SERVICE, declares=False, target_sdk=36)
        with recording_hal(fixture) as hal:
            hal.requested(known.uid)
            with pressed(fixture, press, level):
                hal.requested(new.uid)
                _judge_newcomer(fixture, hal, known, new)


def _judge_newcomer(fixture: ManagerFixture, hal: RecordingHal, known: ClientApp, new: ClientApp) -> None:
    fixture.wait(lambda: hal.priority(new.uid) is not None and _is_in_order(hal, known, new))
    found = [hal.priority(app.uid) for app in (known, new)]
    what = "priorities under pressure, the known app's first"
    checks.that(_is_in_order(hal, known, new), f"{what}: {found}")


def _is_in_order(hal: RecordingHal, known: ClientApp, new: ClientApp) -> bool:
    """The known app is not behind the new one; who has no config is ahead of nobody."""
    first, second = (hal.priority(app.uid) for app in (known, new))
    return first is None or second is None or first <= second
