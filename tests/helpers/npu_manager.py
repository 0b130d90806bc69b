"""The cts fixture over the reference NPU Manager in this process, with a HAL below it that records what it gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from npu_conformance.cts.lib.manager_client import Client, Notification
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture, RequestedModel
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.checked_calls import Checked
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.reference.manager.decisions import Record
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    EndReason,
    Policy,
    PolicyParameters,
    SchedulingConfig,
    WorkInfo,
)
from npu_conformance.specs.plugin import Context, Plugin, Subject

Start = Callable[..., "ReferenceFixture"]
"""Starts a manager: the policy, its parameters, and options of the plug-in by name."""
CASE = Case("cts.npu_manager.reference.test", lambda context: None, (), interface="manager")


class Hal(Scheduling):
    """Records the calls of the manager. dead: every call raises DeadObject."""

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
        """Report one work from request to end."""
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


def _create(context: Context) -> Subject:
    hal = Hal()
    declared_only = context.options.get("declared_only") == "yes"
    manager, control = service.create(
        dataclasses.replace(context, clock=VirtualClock()), hal, declared_only=declared_only
    )
    return Subject(scheduling=hal, manager=manager, manager_control=control)


plugin = Plugin(
    Manifest(
        name="reference-manager",
        vendor="npu-conformance-tests",
        version="1",
        interfaces=("scheduling", "manager", "manager_control"),
        virtual_clock=True,
        options={"declared_only": "yes: the public page's profile", "opportunistic": "see the reference"},
    ),
    _create,
)
"""The reference's manager alone, with the recording HAL as the device's own."""


class ReferenceFixture(ManagerFixture):
    """What a case sees of a manager, and behind it the manager itself, its decisions, and its HAL."""

    def __init__(
        self,
        policy: Policy = Policy.BUDGET,
        parameters: PolicyParameters | None = None,
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._subject = open_subject("npu_manager:plugin", options, "inprocess")
        interfaces = self._subject.interfaces
        assert isinstance(interfaces.manager, Checked)
        assert isinstance(interfaces.scheduling, Checked)
        manager, hal = interfaces.manager.target, interfaces.scheduling.target
        assert isinstance(manager, NpuManager)
        assert isinstance(hal, Hal)
        self.manager: NpuManager = manager
        self.hal: Hal = hal
        self.decisions: list[Record] = []
        self.manager.watch = self.decisions.append
        super().__init__(CaseContext(CASE, self._subject), policy, parameters)

    def advance(self, seconds: float) -> None:
        """Let time pass, and all callbacks arrive."""
        self.control.advance_clock(round(seconds * 1e9))
        for client in self.clients:
            if client.alive:
                client.catch_up()

    def settle(self) -> None:
        """Run everything that is due now: unlike in a case, no time passes."""
        self.advance(0)

    def works(self, app: ClientApp, reason: int = EndReason.COMPLETED) -> None:
        """Let an app have work that ends like this."""
        self.hal.work(app.uid, reason)
        self.settle()

    def process(self, app: ClientApp, pid: int) -> ClientApp:
        """Another process of an app."""
        client = Client(self.context, app.uid, pid)
        self.clients.append(client)
        return ClientApp(self, client)

    def close(self) -> None:
        """End every connection."""
        self.context.close()
        self._subject.close()


def received(*models: RequestedModel) -> list[list[Notification]]:
    """All notifications about each model by now, with repetitions and reasons: a test is stricter than a case."""
    models[0].app.fixture.settle()
    return [model.notifications for model in models]
