"""What a test steers around the reference NPU Manager."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager.apps import App, Apps
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ManagerControl


class Control(ManagerControl):
    """Apps, their permissions and deaths, and the clock. Importance and pressure change nothing under status quo."""

    def __init__(self, clock: VirtualClock, apps: Apps, drop_client: Callable[[int], None]) -> None:
        self._clock, self._apps, self._drop_client = clock, apps, drop_client

    def install_app(
        self, uid: int, package: str, declares_feature: bool, target_sdk: int, feature_required: bool = True
    ) -> None:
        """Add an app, without permissions."""
        self._apps.install(App(uid, package, declares_feature, target_sdk))

    def remove_app(self, uid: int) -> None:
        """Remove an app; its process dies with it."""
        self._apps.remove(uid)
        self._drop_client(uid)

    def grant_permission(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission. IllegalArgument: no app has the uid."""
        try:
            self._apps.grant(uid, permission, granted)
        except KeyError:
            raise IllegalArgument(f"no app has uid {uid}") from None

    def kill_client(self, uid: int, pid: int = 0) -> None:
        """The app's process dies; it stays installed and may come back."""
        self._drop_client(uid)

    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock. IllegalArgument: backwards."""
        if duration_ns < 0:
            raise IllegalArgument(f"time can not go back by {-duration_ns} ns")
        self._clock.advance(duration_ns)
