"""The table of scheduling configs: which uids have one, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.reference.manager.pressure import Pressure
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    MAX_PRIORITY,
    ROOT_UID,
    SYSTEM_UID,
    Importance,
    SchedulingConfig,
)

FIXED = (ROOT_UID, SYSTEM_UID)
"""Uids of one priority, direct access and attribution, which never leave the table (NPU-PRI-003, -010)."""


class Priorities:
    """Importance by uid, and the configs of the tracked uids.

    Tracked are the fixed uids, apps that declare the feature, apps that are blocked, and everyone seen to work or to
    ask for a model. declared_only: the public page's profile, in which apps that do not declare the feature stay at
    1000 (NPU-PRI-014). blocking: whether the flag is on. on_blocked: called with an app when it is first denied access.
    """

    def __init__(
        self,
        apps: InstalledApps,
        blocking: Callable[[], bool],
        on_blocked: Callable[[int], None],
        *,
        declared_only: bool = False,
    ) -> None:
        self._apps = apps
        self._blocking = blocking
        self._on_blocked = on_blocked
        self._declared_only = declared_only
        self._importance: dict[int, int] = {}
        self._blocked: set[int] = set()
        self.pressure = Pressure()
        self._table = {uid: self._judge(uid) for uid in FIXED}

    def priority(self, uid: int) -> int:
        """How strong a uid is for the loading policies; smaller is stronger. Unknown: 1000 (NPU-PRI-002 to -004)."""
        if uid in FIXED:
            return Importance.FOREGROUND
        app = self._apps.get(uid)
        if self._declared_only and not (app and app.declares_feature):
            return MAX_PRIORITY
        return self._importance.get(uid, MAX_PRIORITY)

    def set_importance(self, uid: int, importance: int) -> None:
        """Take over the importance that the activity manager reports."""
        self._importance[uid] = importance

    def track(self, uid: int) -> bool:
        """Give a uid a config; return False where it has one."""
        if uid in self._table:
            return False
        self._table[uid] = self._judge(uid)
        return True

    def follow_app(self, uid: int) -> bool:
        """Track an installed or updated app if it has to be tracked; return True where the table changed."""
        app = self._apps.get(uid)
        if app is not None and (app.declares_feature or self._is_blocked(uid)):
            return self.track(uid) or self.refresh(uid)
        return self.refresh(uid)

    def forget(self, uid: int) -> bool:
        """End the tracking of an app that is gone (NPU-PRI-010); return True where it was tracked."""
        self._importance.pop(uid, None)
        return uid not in FIXED and self._table.pop(uid, None) is not None

    def refresh(self, uid: int) -> bool:
        """Derive the config of a tracked uid anew; return True where it changed."""
        if uid not in self._table:
            return False
        before, self._table[uid] = self._table[uid], self._judge(uid)
        return self._table[uid] != before

    def refresh_all(self) -> tuple[int, ...]:
        """Derive all configs anew; return the uids whose configs changed."""
        return tuple(uid for uid in tuple(self._table) if self.refresh(uid))

    def configs(self, uids: Iterable[int] | None = None) -> tuple[SchedulingConfig, ...]:
        """The configs of those of these uids that are tracked, or the whole table."""
        if uids is None:
            return tuple(self._table.values())
        found = (self._table.get(uid) for uid in dict.fromkeys(uids))  # an app may be forgotten meanwhile
        return tuple(config for config in found if config is not None)

    def _judge(self, uid: int) -> SchedulingConfig:
        if uid in FIXED:
            return SchedulingConfig(uid, Importance.FOREGROUND, has_direct_access=True, can_attribute_other_uid=True)
        blocked = self._is_blocked(uid)
        if blocked and uid not in self._blocked:
            self._blocked.add(uid)
            self._on_blocked(uid)
        return SchedulingConfig(
            uid,
            self.pressure.weakened(self.priority(uid)),
            has_direct_access=not blocked,
            can_attribute_other_uid=self._apps.may(uid, ATTRIBUTION_PERMISSION),
        )

    def _is_blocked(self, uid: int) -> bool:
        app = self._apps.get(uid)
        return self._blocking() and app is not None and app.ought_to_declare
