"""A subject's NPU Manager with some apps, their connections and callbacks, and a scheduling HAL below it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.manager_steps import APPS
from npu_conformance.fuzz.lib.scheduling_fixture import call
from npu_conformance.harness.judge.manager_events import CallbackRecorder
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.subject.handle import Application, SubjectHandle
from npu_conformance.specs.errors import IllegalArgument, InterfaceError
from npu_conformance.specs.npu.manager import Manager, ManagerControl
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    DEBOUNCE_DURATION_MS,
    MAX_PRIORITY,
    MIN_PRIORITY,
    PERMISSION,
    MemoryPressure,
    Policy,
    SchedulingConfig,
    StartReason,
    ThermalStatus,
    WorkInfo,
)

SETTINGS = 10_100
_FIRST_PID = 5000
_TICK_NS = 100_000_000


class Hal(Scheduling):
    """Keeps what the manager pushes, as the table that it makes. wrong: pushes that no HAL takes."""

    def __init__(self) -> None:
        self.table: dict[int, SchedulingConfig] = {}
        self.callback: SchedulingCallback | None = None
        self.wrong: list[str] = []
        self._ids = itertools.count(1)

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace the table."""
        self.table.clear()
        self.update_scheduling_configs(configs)

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Change the table."""
        if len({config.uid for config in configs}) < len(configs):
            self.wrong.append("NPU-HAL-005: a push names a uid twice")
        if not all(MIN_PRIORITY <= config.priority <= MAX_PRIORITY for config in configs):
            self.wrong.append("NPU-HAL-004: a push has a priority outside 0 to 1000")
        self.table.update({config.uid: config for config in configs})

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        """Keep the callback."""
        self.callback = callback

    def works(self, uid: int, reason: int) -> None:
        """Report work of a uid from its request to its end."""
        if self.callback is None:
            raise Found("wrong-status", "NPU-PRI-007: the manager has no callback at the HAL", "NPU-PRI-007 callback")
        self.callback.on_work_requested(self._work(uid))
        self.callback.on_work_started(self._work(uid), StartReason.INITIAL)
        self.callback.on_work_ended(self._work(uid), reason)

    def _work(self, uid: int) -> WorkInfo:
        number = next(self._ids)
        return WorkInfo(number, uid, uid, 500, MAX_PRIORITY, number, 0)


@dataclass
class App:
    """A process of an app. hears: whether it has given the subject anything to call."""

    uid: int
    process: Application
    manager: Manager
    recorder: CallbackRecorder
    hears: bool = False


class ManagerFixture:
    """The subject with its apps, under status quo. pids: no two processes have the same.

    An app is installed afresh when a history first needs it.
    """

    def __init__(self, subject: SubjectHandle, pids: itertools.count[int]) -> None:
        found = subject.interfaces
        if not subject.manifest.virtual_clock or found.manager_control is None:
            raise NotApplicable("histories need a virtual clock and manager_control, which arranges apps")
        self.subject = subject
        self.control: ManagerControl = found.manager_control
        self._pids = pids
        self.old: list[App] = []
        self._apps: dict[int, App] = {}
        self.hal = Hal()
        self._settings: App | None = None
        try:
            self.control.connect_hal(self.hal)
            self._settings = self._installed(SETTINGS)
            self.settings.manager.set_policy(Policy.STATUS_QUO, None)
            self.settle()
        except BaseException:
            self.close()
            raise

    @property
    def settings(self) -> App:
        """The app that may set the policy."""
        assert self._settings is not None
        return self._settings

    @property
    def apps(self) -> list[App]:
        """Those that are installed."""
        return list(self._apps.values())

    def app(self, number: int) -> App:
        """The app of a number, wherever that lies."""
        place = number % len(APPS)
        if place not in self._apps:
            self._apps[place] = self._installed(APPS[place])
        return self._apps[place]

    def settle(self) -> None:
        """Let everything happen that is due, and everything arrive."""
        answer = call("advanceClock", lambda: self.control.advance_clock(_TICK_NS))
        if answer != "done":
            raise Found("wrong-status", f"advanceClock: {answer}", "advanceClock")
        for app in self.apps:
            if app.hears:
                app.process.catch_up()
        while self.subject.serve_pending():
            pass

    def restart(self, number: int) -> None:
        """The process of an app dies, and another one starts."""
        old = self.app(number)
        self.control.kill_client(old.uid)
        self.old.append(old)
        self._apps[number % len(APPS)] = self._started(old.uid)

    def restart_hal(self) -> None:
        """The HAL dies; an empty one takes its place."""
        wrong, self.hal = self.hal.wrong, Hal()
        self.hal.wrong = wrong
        self.control.kill_hal()
        self.control.connect_hal(self.hal)

    def close(self) -> None:
        """Leave nothing behind; a subject that is broken may refuse even that."""
        settings = [] if self._settings is None else [self._settings]
        tidy: list[Callable[[], object]] = [
            lambda: self.control.set_thermal_pressure(ThermalStatus.NONE),
            lambda: self.control.set_memory_pressure(MemoryPressure.NONE),
            *(partial(app.manager.set_policy, Policy.STATUS_QUO, None) for app in settings),
            *(app.process.close for app in (*self.old, *self.apps, *settings)),
            lambda: self.control.connect_hal(None),
        ]
        for call_ in tidy:
            with suppress(InterfaceError, CaseEnded):
                call_()

    def _installed(self, uid: int) -> App:
        with suppress(IllegalArgument):  # nothing to remove
            self.control.remove_app(uid)
        self.control.install_app(uid, f"android.npumanager.fuzzed{uid}", True, BLOCKING_SDK)
        self.control.grant_permission(uid, PERMISSION, True)
        return self._started(uid)

    def _started(self, uid: int) -> App:
        process = self.subject.application(uid, next(self._pids))
        if process.interfaces.manager is None:
            process.close()
            raise NotApplicable("apps cannot reach the manager")
        return App(uid, process, process.interfaces.manager, CallbackRecorder())


def pids() -> itertools.count[int]:
    """Numbers of processes, for one target."""
    return itertools.count(_FIRST_PID)
