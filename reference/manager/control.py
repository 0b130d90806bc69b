"""The control interface: what a test steers around the reference NPU Manager."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.reference.manager import pressure
from npu_conformance.reference.manager.apps import InstalledApp
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.manager import Manager, ManagerControl
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.types import MAX_PRIORITY, MIN_PRIORITY, SERVICE, Atom, Flag, ManagerSnapshot


class Control(ManagerControl):
    """Apps, their rights and deaths, flags, pressure, the HAL and the clock.

    hal: the device's own, or None. advance: moves the virtual clock; None where time is real.
    """

    def __init__(self, manager: NpuManager, hal: Scheduling | None, advance: Callable[[int], None] | None) -> None:
        self._manager = manager
        self._hal = hal
        self._advance = advance
        self._has_feature = True
        self.connect_hal(None)

    def install_app(
        self, uid: int, package: str, declares_feature: bool, target_sdk: int, feature_required: bool = True
    ) -> None:
        """Add an app. The attribute `required` changes nothing (NPU-ACC-008).

        Of packages that share a uid, the first gives its name in a dump, and the newest what all declare, as in AOSP.
        """
        first = self._manager.apps.get(uid)
        if first is not None and first.package != package:
            self.update_app(uid, declares_feature, target_sdk)
            return
        self._manager.apps.install(InstalledApp(uid, package, declares_feature, target_sdk))
        self._manager.importance_changed(uid, MAX_PRIORITY)

    def update_app(self, uid: int, declares_feature: bool, target_sdk: int, feature_required: bool = True) -> None:
        """Replace the manifest."""
        app = self._app(uid)
        app.declares_feature, app.target_sdk = declares_feature, target_sdk
        self._manager.refresh(uid)
        self._manager.rank(uid)

    def remove_app(self, uid: int) -> None:
        """Remove an app; its processes die with it."""
        self._manager.remove_app(uid)

    def grant_permission(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission. Raises IllegalArgument where no app has the uid."""
        self._app(uid)
        self._manager.apps.grant(uid, permission, granted)
        self._manager.refresh(uid)

    def set_importance(self, uid: int, importance: int) -> None:
        """See ManagerControl. Raises IllegalArgument for an importance outside 0 to 1000."""
        if not MIN_PRIORITY <= importance <= MAX_PRIORITY:
            raise IllegalArgument(f"importance {importance} is outside {MIN_PRIORITY} to {MAX_PRIORITY}")
        self._manager.importance_changed(uid, importance)

    def kill_client(self, uid: int, pid: int = 0) -> None:
        """Kill the app's processes; it stays installed and may come back."""
        self._manager.client_died(uid, pid)

    def set_device_feature(self, declared: bool) -> None:
        """See ManagerControl."""
        self._has_feature = declared

    def set_flag(self, flag: str, enabled: bool) -> None:
        """See ManagerControl."""
        if flag not in tuple(Flag):
            raise IllegalArgument(f"unknown flag {flag!r}; there are {', '.join(Flag)}")
        self._manager.flags[Flag(flag)] = enabled
        self._manager.refresh_all()

    def get_system_service(self, name: str) -> Manager | None:
        """See ManagerControl."""
        exists = name == SERVICE and self._has_feature and self._manager.flags[Flag.ENABLED]
        return self._manager if exists else None

    def set_thermal_pressure(self, level: int) -> None:
        """See ManagerControl."""
        self._manager.set_pressure(thermal=pressure.thermal(level))

    def set_memory_pressure(self, level: int) -> None:
        """See ManagerControl."""
        self._manager.set_pressure(memory=pressure.memory(level))

    def set_unload_timeout(self, duration_ns: int) -> None:
        """See ManagerControl."""
        self._manager.unload_timeout_ns = duration_ns

    def connect_hal(self, scheduling: Scheduling | None) -> None:
        """See ManagerControl."""
        self.kill_hal()
        hal = scheduling or self._hal
        if hal is not None:
            self._manager.hal.connect(hal)

    def kill_hal(self) -> None:
        """See ManagerControl. The device's own comes back without configs and without a callback."""
        self._manager.hal.lost()
        if self._hal is not None:
            self._hal.set_callback(None)
            self._hal.set_scheduling_configs(())

    def take_metrics(self) -> tuple[Atom, ...]:
        """See ManagerControl."""
        return self._manager.metrics.take()

    def take_snapshot(self) -> ManagerSnapshot:
        """See ManagerControl."""
        return self._manager.snapshot()

    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock. Raises IllegalArgument for a negative duration, IllegalState where time is real."""
        if self._advance is None:
            raise IllegalState("the clock is a real one")
        self._advance(duration_ns)

    def _app(self, uid: int) -> InstalledApp:
        app = self._manager.apps.get(uid)
        if app is None:
            raise IllegalArgument(f"no app has uid {uid}")
        return app
