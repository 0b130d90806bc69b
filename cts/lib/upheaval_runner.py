"""The steps of random scenarios about what comes and goes: processes, apps, HALs, and the time that unloads take."""

from __future__ import annotations

import sys
from contextlib import suppress

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import Client, install_only
from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.cts.lib.service_runner import ServiceRunner
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, IllegalState, SecurityDenied, Unsupported
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import ROOT_UID, SHELL_UID, SYSTEM_UID, UNLOAD_TIMEOUT_NS, Importance

_NS = 1_000_000_000
_NO_APPS = {ROOT_UID: Importance.FOREGROUND, SYSTEM_UID: Importance.FOREGROUND, SHELL_UID: Importance.GONE}
"""Who asks though no app of the scenario has its uid, and what it counts as."""
_FEW = 8
"""So many requests of an app every manager has room for, as other cases have it, too."""
_SLACK = 0.05
"""Of the time for an unload: what steps between two pauses take at the most."""


class UpheavalRunner(ServiceRunner):
    """A scenario runner that knows these steps as well."""

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        super().__init__(fixture, hal)
        self.removed: set[int] = set()
        self._others: dict[int, Client] = {}
        """The processes of root, the system and the shell."""
        self._refused: set[int] = set()
        """Which of them may not ask."""
        self._bereaved: set[TrackedRequest] = set()
        """Requests of other processes of an app of which one has just died."""
        self._closed: set[Client] = set()
        """Processes whose connections have ended: nobody can call over them."""
        self._patience_ns = 0
        self._ages: dict[TrackedRequest, tuple[float, float]] = {}
        """How long models have been asked to unload, at least and at most, in parts of the time that they have."""
        self._youngest = 0.0
        """The most of it that has passed for those that the newest step has brought to be asked."""
        self.model.importance |= _NO_APPS

    @property
    def installed(self) -> list[int]:
        """The uids of the apps that are there."""
        return [uid for uid in self.apps if uid not in self.removed]

    def run(self, step: Step) -> None:
        """Let it happen; what is not there does nothing."""
        if step.uid in self.removed and step.do != "reinstall":
            return
        super().run(step)
        for tracked in self.model.live:
            if tracked.asked and not step.soon:
                self._ages.setdefault(tracked, (0.0, self._youngest))
        self._youngest = 0.0

    def drain(self) -> None:
        """Let a HAL come, and all that fits have its turn."""
        self.run(Step("revive"))
        super().drain()

    def leave(self) -> None:
        """Leave the device as it was."""
        if self._patience_ns:
            self.fixture.control.set_unload_timeout(UNLOAD_TIMEOUT_NS)
        super().leave()

    def client_of(self, uid: int) -> Client:
        """The process that asks for this uid; root, the system and the shell have one too."""
        if uid not in _NO_APPS:
            return super().client_of(uid)
        if uid not in self._others:
            self._others[uid] = _process_of(self.fixture.context, uid)
            self.fixture.clients.append(self._others[uid])
            self._works_first(uid)
        return self._others[uid]

    def _works_first(self, uid: int) -> None:
        """Nobody can install it afresh: what it completed in other scenarios is outdone, or counts as unknown."""
        if self.hal.callback is None:
            self.model.forgotten[uid] = sys.maxsize
            return
        self.hal.works(uid)
        self.model.complete_work(uid)
        self.model.finished = None

    def _ask(self, step: Step) -> None:
        """Who is no app may be refused, and who has many requests already; how many is free.

        Root and the system are never weaker than a foreground app (NPU-PRI-003).
        While something is under way no id is used again: it would be open which request a callback is about.
        """
        if step.uid in self._refused or (self.joins_in and self.tracked(step) is not None):
            return
        try:
            super()._ask(step)
        except SecurityDenied:
            if step.uid not in _NO_APPS:
                raise
            self._refused.add(step.uid)
            self.model.requests.pop()
        except IllegalState:
            if sum(tracked.uid == step.uid for tracked in self.model.live) <= _FEW:
                raise
            self.model.requests.pop()

    def _judge(self) -> None:
        if self._bereaved:
            self.fixture.settle()
            self._receive()
            self._mourn([tracked for tracked in self._bereaved if not tracked.ended])
            self._bereaved.clear()
        super()._judge()

    def _mourn(self, left: list[TrackedRequest]) -> None:
        """A manager ought to keep what other processes of an app have (NPU-LIF-020): its dump says whether it does."""
        for uid in {tracked.uid for tracked in left} if self.model.gates else ():
            same = [tracked for tracked in left if tracked.uid == uid]
            others = sum(tracked.uid == uid for tracked in self.model.live) - len(same)
            if self._lines_of(uid) <= others:
                self._warn("the death of one process drops the requests of another process of the same uid")
                for tracked in same:
                    tracked.dead = True

    def _judge_dump(self, text: str) -> None:
        super()._judge_dump(text)
        dump = manager_dump.read(text)
        if left := self.removed & {line.uid for line in (*dump.requests, *dump.priorities)}:
            self.fail("NPU-PRI-010", f"the uids {sorted(left)}, which are removed, in the dump:\n{text}")

    def _judge_introduction(self, before: int) -> None:
        super()._judge_introduction(before)
        if left := self.removed & {*self.hal.table}:
            self.fail("NPU-PRI-010", f"the uids {sorted(left)}, which are removed, in the table for a HAL")

    def _perish(self, step: Step) -> None:
        if not self.model.gates or all(client.pid != step.number for client in self._processes(step.uid)):
            return
        self._bury(step.uid, step.number)
        self._bereaved |= {tracked for tracked in self.model.live if tracked.uid == step.uid}
        self.fixture.control.kill_client(step.uid, step.number)
        app = self.apps[step.uid]
        if not app.client.alive:
            left = self._processes(step.uid)
            if left:
                app.client = left[-1]
            else:
                app.restarts()

    def _hang_up(self, step: Step) -> None:
        """A connection ends, and with it what its process asked for (NPU-LIF-019), once the manager has noticed."""
        app = self.apps[step.uid]
        ending = app.client
        self._closed.add(ending)
        self._bury_only([ending])
        self._bereaved |= {tracked for tracked in self.model.live if tracked.uid == step.uid}
        ending.process.close()
        app.client = next(iter(self._processes(step.uid)[::-1]), ending)
        if app.client is ending:
            app.restarts()
        self.fixture.until(lambda: self._lines_of(step.uid) <= self._most_lines(step.uid))

    def _with_listener(self, step: Step) -> tuple[TrackedRequest | None, ModelLoadStatusListener | None]:
        tracked, listener = super()._with_listener(step)
        return tracked, None if tracked is not None and self.owners[tracked] in self._closed else listener

    def _most_lines(self, uid: int) -> int:
        return sum(tracked.uid == uid for tracked in self.model.requests if tracked.overdue or not tracked.ended)

    def _lines_of(self, uid: int) -> int:
        return len(self._read_dump().states_of(uid))

    def _processes(self, uid: int) -> list[Client]:
        return [client for client in self.fixture.clients if client.alive and client.uid == uid]

    def _turn(self, step: Step) -> None:
        processes = self._processes(step.uid)
        self.apps[step.uid].client = processes[step.number % len(processes)]

    def _rest(self, step: Step) -> None:
        """Let what is under way arrive."""

    def _meddle(self, step: Step) -> None:
        if not self.removed:
            super()._meddle(step)

    def _remove(self, step: Step) -> None:
        """Its requests vanish, and nobody tracks its uid (NPU-PRI-010)."""
        self._uninstall(step.uid)
        self.removed.add(step.uid)
        self.fixture.control.remove_app(step.uid)

    def _reinstall(self, step: Step) -> None:
        self.removed.discard(step.uid)
        super()._reinstall(step)

    def _halt(self, step: Step) -> None:
        """Until another one comes there is no HAL, and the manager goes on (NPU-PRI-007)."""
        if self.absent:
            return
        if not step.own:
            self.fixture.control.kill_hal()
        self.hal.dead, self.absent = True, True
        self.hal.callback = None
        self.hal.table.clear()

    def _revive(self, step: Step) -> None:
        if self.absent:
            self._connect()

    def _patience(self, step: Step) -> None:
        self._patience_ns = step.number * _NS
        try:
            self.fixture.control.set_unload_timeout(self._patience_ns)
        except Unsupported as error:
            raise NotApplicable(f"the time for an unload cannot be set: {error}") from None

    def _pause(self, step: Step) -> None:
        """Who has been asked for longer than the time for an unload is overdue, and nobody else (NPU-LIF-027).

        Nothing happens where it would be open who is.
        """
        part = step.number / 1000
        asked = {tracked: self._ages[tracked] for tracked in self.model.live if tracked.asked}
        oldest = max((most for _, most in asked.values()), default=0.0)
        is_open = any(least + part < 1 + _SLACK and most + part > 1 - _SLACK for least, most in asked.values())
        if is_open or part > 2 - oldest - _SLACK:
            return
        self.model.expire([tracked for tracked, (least, _) in asked.items() if least + part > 1])
        self._ages = {tracked: (least + part, most + part) for tracked, (least, most) in asked.items()}
        self._youngest = max(0.0, part - (1 - oldest) + _SLACK)
        self.fixture.control.advance_clock(int(self._patience_ns * part))


def _process_of(context: CaseContext, uid: int) -> Client:
    """A process of who is no app. The system has the permission where it can be installed as one."""
    if uid == SYSTEM_UID:
        with suppress(IllegalArgument):
            return install_only(context, uid)
    return Client(context, uid)
