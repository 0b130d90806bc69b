"""The installed apps and their permissions, as the manager's control interface arranges them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class App:
    """An app of the device. declares_feature: its manifest has uses-feature android.hardware.npu."""

    uid: int
    package: str
    declares_feature: bool
    target_sdk: int
    permissions: set[str] = field(default_factory=set)


class Apps:
    """All apps by uid."""

    def __init__(self) -> None:
        self._apps: dict[int, App] = {}

    def install(self, app: App) -> None:
        """Add an app; one of the same uid is replaced and its permissions are gone."""
        self._apps[app.uid] = app

    def remove(self, uid: int) -> None:
        """Remove an app; an unknown uid is ignored."""
        self._apps.pop(uid, None)

    def grant(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission. Raises KeyError where no app has the uid."""
        permissions = self._apps[uid].permissions
        (permissions.add if granted else permissions.discard)(permission)

    def may(self, uid: int, permission: str) -> bool:
        """True where the app holds the permission; a uid without an app holds none."""
        return uid in self._apps and permission in self._apps[uid].permissions
