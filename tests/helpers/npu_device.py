"""The reference NPU Manager on a virtual clock, with apps that ask, load and unload, and a HAL that records."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.reference.manager.decisions import Record
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    PERMISSION,
    EndReason,
    Importance,
    ModelLoadRequest,
    ModelSize,
    Policy,
    PolicyParameters,
    SchedulingConfig,
    WorkInfo,
)
from npu_conformance.specs.plugin import Caller, Context

SMALL, MEDIUM, LARGE = ModelSize
ADMIN = 10_000
"""An app that sets policies and asks for nothing."""
CAN, WAIT, PARKED, CANCELLED, COMPLETE = range(5)


class NoMemory:
    """The manager maps nothing."""

    def map(self, memory: object) -> memoryview:
        raise NotImplementedError


class App(ModelLoadRequestCallback):
    """One process of an app. heard: by request id, decisions and completions as numbers, unload requests as a pair."""

    def __init__(self, device: Device, uid: int, pid: int) -> None:
        self.device, self.uid, self.pid = device, uid, pid
        self.heard: dict[int, list[object]] = {}
        self.listener: ModelLoadStatusListener | None = None
        self.dead = False

    def ask(self, identifier: int, size: int = LARGE, priority: int = 0) -> list[object]:
        """Request; what was heard of it by now."""
        self.heard.setdefault(identifier, [])
        with self.device.calling(self):
            self.device.manager.request_can_load_model(ModelLoadRequest(identifier, size, priority), self)
        self.device.clock.advance(0)
        return self.heard[identifier]

    def load(self, identifier: int, size: int = LARGE, priority: int = 0) -> list[object]:
        """Request, and load what was granted."""
        heard = self.ask(identifier, size, priority)
        assert heard[-1] == CAN, heard
        self.loaded(identifier)
        return heard

    def loaded(self, identifier: int) -> None:
        """Say that it is loaded."""
        assert self.listener is not None
        with self.device.calling(self):
            self.listener.notify_model_loaded(ModelLoadRequest(identifier))
        self.device.clock.advance(0)

    def unloaded(self, identifier: int) -> None:
        """Say that it is unloaded."""
        assert self.listener is not None
        with self.device.calling(self):
            self.listener.notify_model_unloaded(ModelLoadRequest(identifier))
        self.device.clock.advance(0)

    def cancel(self, identifier: int) -> None:
        """Withdraw a request."""
        with self.device.calling(self):
            self.device.manager.cancel_model_load(ModelLoadRequest(identifier))
        self.device.clock.advance(0)

    def become(self, importance: int) -> None:
        """Change in importance."""
        self.device.control.set_importance(self.uid, importance)
        self.device.clock.advance(0)

    def work(self, reason: int = EndReason.COMPLETED) -> None:
        """Have work that ends like this."""
        self.device.hal.work(self.uid, reason)
        self.device.clock.advance(0)

    def die(self) -> None:
        """Lose this process."""
        self.device.control.kill_client(self.uid, self.pid)
        self.device.clock.advance(0)

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        if self.dead:
            raise DeadObject
        self.listener = listener
        self.heard[request.id].append(status)

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self.heard[request.id].append(("unload", reason))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.heard[request.id].append(status)


class Hal(Scheduling):
    """Records the calls of the manager. dead: every call finds nobody."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[int, SchedulingConfig]]] = []
        self.callback: SchedulingCallback | None = None
        self.dead = False

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self._note("set", configs)

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self._note("update", configs)

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        if self.dead:
            raise DeadObject
        self.callback = callback
        self.calls.append(("callback", {}))

    def work(self, uid: int, reason: int, original_uid: int | None = None) -> None:
        """Report a work from request to end."""
        assert self.callback is not None
        work = WorkInfo(1, uid, uid if original_uid is None else original_uid, 0, 100, 0, 0)
        self.callback.on_work_requested(work)
        self.callback.on_work_started(work, 0)
        self.callback.on_work_ended(work, reason)

    def take(self) -> list[tuple[str, dict[int, int]]]:
        """The calls since the last time, each with the priorities by uid."""
        calls, self.calls = self.calls, []
        return [(name, {uid: config.priority for uid, config in configs.items()}) for name, configs in calls]

    def _note(self, name: str, configs: tuple[SchedulingConfig, ...]) -> None:
        if self.dead:
            raise DeadObject
        self.calls.append((name, {config.uid: config for config in configs}))


class Device:
    """Everything, under one policy."""

    def __init__(
        self,
        policy: int = Policy.BUDGET,
        parameters: PolicyParameters | None = None,
        *,
        declared_only: bool = False,
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.clock, self.hal = VirtualClock(), Hal()
        self._caller = Caller(ADMIN, 1)
        context = Context(NoMemory(), lambda: self._caller, options, clock=self.clock)
        self.manager, self.control = service.create(context, self.hal, declared_only=declared_only)
        self.decisions: list[Record] = []
        self.manager.watch = self.decisions.append
        self.admin = self.app(ADMIN)
        self.manager.set_policy(policy, parameters)

    def app(self, uid: int, importance: int = Importance.FOREGROUND, pid: int = 1) -> App:
        """Start a process of an app that may use the manager; it is installed, and declares the feature, if need be."""
        if self.manager.apps.get(uid) is None:
            self.control.install_app(uid, f"app{uid}", True, 37)
        self.control.grant_permission(uid, PERMISSION, True)
        self.control.set_importance(uid, importance)
        return App(self, uid, pid)

    def calling(self, app: App) -> _As:
        """Make calls as this process."""
        return _As(self, Caller(app.uid, app.pid))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(int(seconds * 1e9))


class _As:
    def __init__(self, device: Device, caller: Caller) -> None:
        self._device, self._caller = device, caller

    def __enter__(self) -> None:
        self._device._caller = self._caller

    def __exit__(self, *error: object) -> None:
        self._device._caller = Caller(ADMIN, 1)
