"""The text of `dumpsys npu`, in AOSP's form (NPU-OBS-001)."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.reference.manager.loading_policy import LoadingPolicy
from npu_conformance.reference.manager.requests import Request, State
from npu_conformance.specs.npu.types import SchedulingConfig

_LAST_SYSTEM_UID = 10_000
_STATES = {
    State.PARKED: "NOT_PRIORITIZED",
    State.WAITING: "PENDING_LOAD",
    State.GRANTED: "PENDING_LOAD",
    State.LOADED: "LOADED",
    State.ASKED: "LOADED",
}


def text(
    policy: LoadingPolicy, live: Iterable[Request], configs: Iterable[SchedulingConfig], apps: InstalledApps
) -> str:
    """The policy with its maximum and requests where it has a budget, and the priorities, strongest first."""
    lines = [f"Policy: {policy.name}"]
    if policy.maximum is not None:
        lines += [f"    Max: {policy.maximum}", "    Requests:"]
        lines += [f"        {_named(request.uid.number, apps)}: {_STATES[request.state]}" for request in live]
    lines += ["", "Priorities:"]
    ascending = sorted(configs, key=lambda config: (config.priority, config.uid))
    lines += [f"    {_named(config.uid, apps)} {config.priority}" for config in ascending]
    return "\n".join(lines) + "\n"


def _named(uid: int, apps: InstalledApps) -> str:
    return f"{uid} [{package_of(uid, apps)}]"


def package_of(uid: int, apps: InstalledApps) -> str:
    """The name of a uid for people; empty where none is known."""
    app = apps.get(uid)
    return "system" if uid <= _LAST_SYSTEM_UID else app.package if app else ""
