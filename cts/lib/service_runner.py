"""The steps of random scenarios about what is around the manager: HALs, flags, installations; and what is logged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from npu_conformance.cts.lib.manager_client import CallbackRecorder, Client, install_only
from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.scenario_metrics import ExpectedRecords
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.cts.lib.service_calls import ServiceCalls
from npu_conformance.cts.lib.service_choices import (
    FLAGS,
    STRANGERS,
)
from npu_conformance.harness.judge.callback_order import Broken
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.specs.errors import IllegalArgument, Unsupported
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    DUMP_PERMISSION,
    MAX_PRIORITY,
    ROOT_UID,
    SYSTEM_UID,
    Atom,
    Flag,
)


class ServiceRunner(ServiceCalls):
    """A scenario runner that knows these steps as well."""

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        super().__init__(fixture, hal)
        self._pushes = 0
        """How many came before the newest step."""
        self._seen = 0
        """How many callbacks came before the newest step."""
        self._old_priority: int | None = None
        self._reported = 0
        """How much work was reported before the newest step."""
        self._targets: dict[int, int] = {}
        self._flags = dict.fromkeys(FLAGS, True)
        self._own: list[tuple[Client, CallbackRecorder]] = []
        self._places: dict[TrackedRequest, CallbackRecorder] = {}
        self._taken: dict[CallbackRecorder, int] = {}
        self._records = ExpectedRecords()
        self._logs = True
        """Whether the metrics can be read."""
        fixture.control.grant_permission(fixture.settings.uid, DUMP_PERMISSION, True)

    def run(self, step: Step) -> None:
        """Let it happen, and judge what follows."""
        if not self.under_way:
            self._pushes, self._seen = len(self.hal.pushes), self._received()
            found = self.hal.table.get(step.uid)
            self._old_priority = None if found is None else found.priority
            self._reported = len(self.hal.reported)
            self._take_metrics()
        super().run(step)
        if step.soon:
            return
        if not self.model.busy:
            self._judge_push(step)
        self._judge_forms()
        self._judge_metrics(step)
        self._judge_dump(self.fixture.settings.manager.dump())

    def drain(self) -> None:
        """Resume pushes, and let all that fits have its turn."""
        self.run(Step("resume"))
        super().drain()

    def leave(self) -> None:
        """Leave the device as it was."""
        with suppress(Unsupported):
            for flag in FLAGS:
                self.fixture.control.set_flag(flag, True)
        if self.suspended:
            self._root("enable")
        for client in self._connected.values():
            client.process.close()

    def may_block(self, uid: int) -> bool:
        """Only undeclared apps for API 37 and later."""
        return super().may_block(uid) and self._targets.get(uid, BLOCKING_SDK) >= BLOCKING_SDK

    def recorder_of(self, step: Step) -> CallbackRecorder | None:
        """A new one where the step says so."""
        client = self.client_of(step.uid)
        recorder = CallbackRecorder() if step.own else client.recorder
        self._places[self.model.requests[-1]] = recorder
        if not step.own:
            return None
        self._own.append((client, recorder))
        return recorder

    def judge_place(self, tracked: TrackedRequest, recorder: CallbackRecorder) -> None:
        """See that a callback came to the object that was given with its request (NPU-LIF-025)."""
        if self._places.get(tracked, recorder) is not recorder:
            self.fail("NPU-LIF-025", f"{tracked.name}: a callback came to the object of another request")

    def _receive(self) -> None:
        super()._receive()
        for client, recorder in self._own:
            for event in recorder.events[self._taken.get(recorder, 0) :]:
                tracked = self.newest(client.uid, event.request.id)
                if tracked is None or self._places.get(tracked) is not recorder:
                    what = f"uid {client.uid} got {event} at the callback object of another request"
                    self.fail("NPU-LIF-025", what)
                else:
                    client.judge_request(event)
                    self.model.receive(tracked, event)
            self._taken[recorder] = len(recorder.events)

    def _table(self) -> list[Broken]:
        if self.absent:
            return []
        if not self.suspended:
            return [*super()._table(), *self._fixed()]
        pushes = len(self.hal.pushes)
        what = f"{pushes - self._pushes} pushes while they are suspended"
        return [("NPU-OBS-005", what)] if pushes > self._pushes else []

    def _fixed(self) -> Iterator[Broken]:
        """Root and the system never change (NPU-PRI-003); who has no app counts as the weakest (NPU-PRI-004)."""
        for uid in (ROOT_UID, SYSTEM_UID):
            one = self.hal.table.get(uid)
            if one and (one.priority, one.has_direct_access, one.can_attribute_other_uid) != (100, True, True):
                yield "NPU-PRI-003", f"uid {uid} at the HAL: {one}"
        for uid in STRANGERS:
            one = self.hal.table.get(uid)
            if one and (one.priority, one.can_attribute_other_uid) != (MAX_PRIORITY, False):
                yield "NPU-PRI-004", f"uid {uid}, which has no app, at the HAL: {one}"

    def _system(self, step: Step) -> None:
        with suppress(IllegalArgument, Unsupported):
            self.fixture.control.set_importance(step.uid, step.number)

    def _stranger(self, step: Step) -> None:
        if self.hal.callback is not None:
            self.hal.works(step.uid)

    def _judge_push(self, step: Step) -> None:
        """A new priority is pushed before the policy acts on it, that of a moved app incrementally (NPU-PRI-005)."""
        new = self.model.importance.get(step.uid)
        changes = step.do in ("move", "update", "declare") and new not in (self._old_priority, None)
        if not changes or self.suspended or self.absent or self.model.pressed:
            return
        pushes = self.hal.pushes[self._pushes :]
        if step.do == "move" and any(call != "update" for call, _ in pushes):
            self.fail("NPU-PRI-005", f"the importance of uid {step.uid} was pushed by the replacing call")
        if step.uid in self.hal.table and self.hal.received_at_push[self._pushes :][:1] != [self._seen]:
            self.fail("NPU-PRI-005", f"the importance of uid {step.uid} was not pushed before callbacks")

    def _judge_forms(self) -> None:
        if self._flags[Flag.UNLOAD_REASON]:
            return
        for tracked in self.model.requests:
            if any(event.kind == "unload" and event.status is not None for event in tracked.new_events):
                self._warn("asked to unload with a reason, though the flag is off")

    def _judge_metrics(self, step: Step) -> None:
        found = self._take_metrics()
        missing = self._records.missing(self.model, step, self.hal.reported[self._reported :], found)
        for record in missing if self._logs and not self.model.busy else ():
            self._warn(f"expected a metric {record}")

    def _take_metrics(self) -> tuple[Atom, ...]:
        if not self._logs:
            return ()
        try:
            return self.fixture.control.take_metrics()
        except Unsupported:
            self._logs = False
            return ()

    def _received(self) -> int:
        return sum(len(client.recorder.events) for client in self.fixture.clients)

    def _suspend(self, step: Step) -> None:
        self._root("disable")
        self.suspended = True

    def _resume(self, step: Step) -> None:
        """What the HAL has of the manager by then is the whole table, and the callback (NPU-OBS-005, NPU-PRI-006).

        A HAL that knows the manager may get the table by either call, and keeps the callback that it has.
        """
        before = len(self.hal.pushes)
        was_suspended, self.suspended = self.suspended, False
        if was_suspended:  # somebody else may have had the HAL meanwhile
            self.hal.table.clear()
        self._root("enable")
        self.fixture.settle()
        if was_suspended and not self.absent:
            self._judge_introduction(before)

    def _hal(self, step: Step) -> None:
        """The next HAL gets the whole table, then the callback, unless pushes are suspended (NPU-PRI-006, -007)."""
        control = self.fixture.control
        if step.own:  # the manager finds it out by what it pushes
            self.hal.dead = True
        else:
            control.kill_hal()
        self._move(step)
        self._connect()

    def _connect(self) -> None:
        self.absent = False
        self.hal = RecordingHal(self.fixture)
        self.fixture.control.connect_hal(self.hal)
        self.fixture.settle()
        self._pushes = self._reported = 0
        if not self.suspended:
            self._judge_introduction(0)

    def _judge_introduction(self, before: int) -> None:
        """before: how many pushes the HAL had got from the manager before; none where it is new."""
        calls = [call for call, _ in self.hal.pushes[before:]]
        has_table = bool(calls) if before else calls[:1] == ["set"]
        if not has_table or self.hal.callback is None:
            what = f"a HAL to be introduced got the pushes {calls}, callback: {self.hal.callback is not None}"
            self.fail("NPU-PRI-007" if has_table else "NPU-OBS-005" if before else "NPU-PRI-006", what)
        missing = {ROOT_UID, SYSTEM_UID} - {*self.hal.table}
        if missing:
            self.fail("NPU-PRI-006", f"no configs of the uids {sorted(missing)} in the table for a HAL")

    def _work(self, step: Step) -> None:
        if self.hal.callback is not None:  # else nobody listens, as pushes are suspended
            super()._work(step)

    def _serve(self, step: Step) -> None:
        if self.hal.callback is not None:
            super()._serve(step)

    def _spawn(self, step: Step) -> None:
        """A process with a number of its own."""
        app = self.apps[step.uid]
        app.client = Client(self.fixture.context, step.uid, step.number)
        self.fixture.clients.append(app.client)

    def _flag(self, step: Step) -> None:
        flag = FLAGS[step.id]
        try:
            self.fixture.control.set_flag(flag, bool(step.number))
        except Unsupported as error:
            raise NotApplicable(f"the flag {flag} cannot be switched: {error}") from None
        self._flags[flag] = bool(step.number)
        self.blocks = self._flags[Flag.BLOCK_MISSING_FEATURE]

    def _declare(self, step: Step) -> None:
        super()._declare(step)
        self._targets[step.uid] = BLOCKING_SDK

    def _update(self, step: Step) -> None:
        self._outdate(step.uid)
        (self._undeclared.discard if step.number else self._undeclared.add)(step.uid)
        self._targets[step.uid] = step.id
        self._rank(step.uid)
        self.fixture.control.update_app(step.uid, bool(step.number), step.id, bool(step.priority))

    def _reinstall(self, step: Step) -> None:
        """Its requests vanish, and it begins at 1000 and without rights (NPU-PRI-009 to -011, NPU-LIF-019)."""
        app = self.apps[step.uid]
        self._uninstall(step.uid)
        app.client = install_only(self.fixture.context, step.uid)
        self.fixture.clients.append(app.client)

    def _uninstall(self, uid: int) -> None:
        self._bury(uid)
        self._undeclared.discard(uid)
        self._once_blockable.discard(uid)
        self._attributing.discard(uid)
        self._rights_changed.pop(uid, None)
        self._targets.pop(uid, None)
        self._importance[uid] = MAX_PRIORITY
        self._rank(uid)
        self.model.forget(uid)
