"""Snapshots of what the manager knows at one moment, for people who watch it."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.reference.manager.dump import package_of
from npu_conformance.reference.manager.loading_policy import LoadingPolicy
from npu_conformance.reference.manager.requests import Request
from npu_conformance.specs.npu.types import (
    AppSnapshot,
    EndReason,
    ManagerSnapshot,
    ModelSnapshot,
    SchedulingConfig,
)


class WorkLog:
    """The work of each uid, as the HAL reports it."""

    def __init__(self) -> None:
        self._states: dict[int, str] = {}
        self._completed: dict[int, int] = {}

    def requested(self, uid: int) -> None:
        """Note that work was queued."""
        self._states[uid] = "requested"

    def started(self, uid: int) -> None:
        """Note that work has the NPU."""
        self._states[uid] = "running"

    def ended(self, uid: int, reason: int) -> None:
        """Note that work has ended, or was paused."""
        self._states[uid] = "paused" if reason == EndReason.PAUSED else "idle"
        if reason == EndReason.COMPLETED:
            self._completed[uid] = self._completed.get(uid, 0) + 1

    def forget(self, uid: int) -> None:
        """Forget an app that is gone."""
        self._states.pop(uid, None)
        self._completed.pop(uid, None)

    def of(self, uid: int) -> tuple[str, int]:
        """The state of a uid's work, and how many works it has completed."""
        return self._states.get(uid, "idle"), self._completed.get(uid, 0)


def take(
    policy: LoadingPolicy,
    live: Iterable[Request],
    configs: Iterable[SchedulingConfig],
    apps: InstalledApps,
    works: WorkLog,
) -> ManagerSnapshot:
    """Take a snapshot of the apps, strongest first, and the requests."""
    ascending = sorted(configs, key=lambda config: (config.priority, config.uid))
    return ManagerSnapshot(
        policy=policy.number,
        used=policy.used,
        ceiling=policy.ceiling,
        apps=tuple(_app(config, apps, works) for config in ascending),
        models=tuple(map(_model, live)),
    )


def _app(config: SchedulingConfig, apps: InstalledApps, works: WorkLog) -> AppSnapshot:
    work, completed = works.of(config.uid)
    package = package_of(config.uid, apps)
    return AppSnapshot(config.uid, package, config.priority, config.has_direct_access, work, completed)


def _model(request: Request) -> ModelSnapshot:
    model, client = request.model, request.client.caller
    return ModelSnapshot(
        client.uid, client.pid, model.id, model.size, model.priority, request.state.value, request.weight
    )
