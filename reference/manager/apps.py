"""The installed apps, their manifests and their permissions, as the manager's control interface arranges them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npu_conformance.specs.npu.types import BLOCKING_SDK, DUMP_PERMISSION, PERMISSION, ROOT_UID, SHELL_UID


class InstalledApp(msgspec.Struct):
    """An app of the device. declares_feature: its manifest has uses-feature, required or not (NPU-ACC-008)."""

    uid: int
    package: str
    declares_feature: bool
    target_sdk: int
    permissions: frozenset[str] = frozenset()

    @property
    def ought_to_declare(self) -> bool:
        """True for an app that reaches the NPU directly only where blocking is off (NPU-ACC-007, -009)."""
        return not self.declares_feature and self.target_sdk >= BLOCKING_SDK


class InstalledApps:
    """All apps by uid. Root may do everything, as in Android; the shell has what `cmd npu` needs."""

    def __init__(self) -> None:
        self._apps: dict[int, InstalledApp] = {}

    def install(self, app: InstalledApp) -> None:
        """Add an app; it replaces one of the same uid, whose permissions are gone."""
        self._apps[app.uid] = app

    def remove(self, uid: int) -> None:
        """Remove an app; an unknown uid has no effect."""
        self._apps.pop(uid, None)

    def get(self, uid: int) -> InstalledApp | None:
        """The app of a uid."""
        return self._apps.get(uid)

    def grant(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission. Raises KeyError where no app has the uid."""
        app = self._apps[uid]
        app.permissions = app.permissions | {permission} if granted else app.permissions - {permission}

    def may(self, uid: int, permission: str) -> bool:
        """True where the app holds the permission; except for root and the shell, a uid without an app holds none."""
        app = self._apps.get(uid)
        if app is not None and permission in app.permissions:
            return True
        return uid == ROOT_UID or (uid == SHELL_UID and permission in (PERMISSION, DUMP_PERMISSION))

    def __iter__(self) -> Iterator[InstalledApp]:
        return iter(tuple(self._apps.values()))  # one may be installed meanwhile
