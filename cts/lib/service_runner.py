"""The steps of random scenarios about the manager as a service: rights, dumps, the shell, HALs, installations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from npu_conformance.cts.lib.manager_client import CallbackRecorder, Client, install_only
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_observation import shell_of
from npu_conformance.cts.lib.scenario_dump import DumpJudge
from npu_conformance.cts.lib.scenario_metrics import ExpectedRecords
from npu_conformance.cts.lib.scenario_runner import ScenarioRunner, Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.cts.lib.service_choices import (
    COMMANDS,
    DENIED,
    FLAGS,
    PARAMETERS,
    POLICY_COMMANDS,
    REFUSED,
    REFUSED_ID,
    STRANGERS,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_model import DEFAULT_WEIGHTS, TrackedRequest
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied, Unsupported
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    DUMP_PERMISSION,
    MAX_PRIORITY,
    PERMISSION,
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    Atom,
    Flag,
    ModelLoadRequest,
    Policy,
    PolicyParameters,
    ShellResult,
)


class ServiceRunner(ScenarioRunner):
    """A scenario runner that knows these steps as well."""

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        super().__init__(fixture, hal)
        self.suspended = False
        self._pushes = 0
        """How many came before the newest step."""
        self._seen = 0
        """How many callbacks came before the newest step."""
        self._old_priority: int | None = None
        self._targets: dict[int, int] = {}
        self._flags = dict.fromkeys(FLAGS, True)
        self._own: list[tuple[Client, CallbackRecorder]] = []
        self._places: dict[TrackedRequest, CallbackRecorder] = {}
        self._taken: dict[CallbackRecorder, int] = {}
        self._dumps = DumpJudge()
        self._warned: set[str] = set()
        self._connected: dict[int, Client] = {}
        self._records = ExpectedRecords()
        self._logs = True
        """Whether the metrics can be read."""

    def run(self, step: Step) -> None:
        """Let it happen, and judge what follows."""
        self._pushes, self._seen = len(self.hal.pushes), self._received()
        found = self.hal.table.get(step.uid)
        self._old_priority = None if found is None else found.priority
        reported = len(self.hal.reported)
        self._take_metrics()
        super().run(step)
        self._judge_push(step)
        self._judge_forms()
        self._judge_metrics(step, reported)

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
        """Only undeclared apps for API 37 and later, and only while the flag is on."""
        is_late = self._targets.get(uid, BLOCKING_SDK) >= BLOCKING_SDK
        return super().may_block(uid) and is_late and self._flags[Flag.BLOCK_MISSING_FEATURE]

    def recorder_of(self, step: Step) -> CallbackRecorder | None:
        """A new one where the step says so."""
        client = self.apps[step.uid].client
        recorder = CallbackRecorder() if step.own else client.recorder
        self._places[self.model.requests[-1]] = recorder
        if not step.own:
            return None
        self._own.append((client, recorder))
        return recorder

    def judge_place(self, tracked: TrackedRequest, recorder: CallbackRecorder) -> None:
        """See that a callback came to the object that was given with its request (NPU-LIF-025)."""
        if self._places.get(tracked, recorder) is not recorder:
            self.fail(f"{tracked.name}: a callback came to the object of another request")

    def _receive(self) -> None:
        super()._receive()
        for client, recorder in self._own:
            for event in recorder.events[self._taken.get(recorder, 0) :]:
                tracked = self.tracked(Step("", client.uid, event.request.id))
                if tracked is None or self._places.get(tracked) is not recorder:
                    self.fail(f"uid {client.uid} got {event} at the callback object of another request")
                else:
                    client.judge_request(event)
                    self.model.receive(tracked, event)
            self._taken[recorder] = len(recorder.events)

    def _table(self) -> list[str]:
        if not self.suspended:
            return [*super()._table(), *self._fixed()]
        pushes = len(self.hal.pushes)
        return [f"{pushes - self._pushes} pushes while they are suspended"] if pushes > self._pushes else []

    def _fixed(self) -> Iterator[str]:
        """Root and the system never change (NPU-PRI-003); who has no app counts as the weakest (NPU-PRI-004)."""
        for uid in (ROOT_UID, SYSTEM_UID):
            one = self.hal.table.get(uid)
            if one and (one.priority, one.has_direct_access, one.can_attribute_other_uid) != (100, True, True):
                yield f"uid {uid} at the HAL: {one}"
        for uid in STRANGERS:
            one = self.hal.table.get(uid)
            if one and (one.priority, one.can_attribute_other_uid) != (MAX_PRIORITY, False):
                yield f"uid {uid}, which has no app, at the HAL: {one}"

    def _system(self, step: Step) -> None:
        with suppress(IllegalArgument, Unsupported):
            self.fixture.control.set_importance(step.uid, step.number)

    def _stranger(self, step: Step) -> None:
        if self.hal.callback is not None:
            self.hal.works(step.uid)

    def _judge_push(self, step: Step) -> None:
        """A new importance is pushed alone, incrementally, and before the policy acts on it (NPU-PRI-005)."""
        new = self.model.importance.get(step.uid)
        if step.do != "move" or self.suspended or self.model.pressed or new in (self._old_priority, None):
            return
        pushes = self.hal.pushes[self._pushes :]
        if any(call != "update" for call, _ in pushes):
            self.fail(f"the importance of uid {step.uid} was pushed by the replacing call")
        if step.uid in self.hal.table and self.hal.received_at_push[self._pushes :][:1] != [self._seen]:
            self.fail(f"the importance of uid {step.uid} was not pushed before callbacks")

    def _judge_forms(self) -> None:
        if self._flags[Flag.UNLOAD_REASON]:
            return
        for tracked in self.model.requests:
            if any(event.kind == "unload" and event.status is not None for event in tracked.new_events):
                self._warn("asked to unload with a reason, though the flag is off")

    def _judge_metrics(self, step: Step, reported: int) -> None:
        found = self._take_metrics()
        missing = self._records.missing(self.model, step, self.hal.reported[reported:], found)
        for record in missing if self._logs else ():
            self._warn(f"expected a metric {record}")

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.fixture.context.warn_quality(text)

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

    def _weigh(self, step: Step) -> None:
        parameters = PARAMETERS[step.number]
        given = parameters or PolicyParameters()
        weights = {size: given.model_size_weights.get(str(size), weight) for size, weight in DEFAULT_WEIGHTS.items()}
        maximum = weights[max(weights)] if given.max_budget is None else given.max_budget
        self.model.replace_policy(Policy.BUDGET, maximum, weights)
        self.fixture.settings.manager.set_policy(Policy.BUDGET, parameters)

    def _deny(self, step: Step) -> None:
        """Without the permission nobody sets a policy (NPU-ACC-004); requests ought to be rejected (NPU-ACC-005)."""
        app, grant = self.apps[step.uid], self.fixture.control.grant_permission
        grant(step.uid, PERMISSION, False)
        grant(step.uid, DUMP_PERMISSION, step.own)
        if step.number == 0:
            self._denied_request(app)
        elif step.number < DENIED - len(POLICY_COMMANDS):
            policy, parameters = (Policy.STATUS_QUO, None) if step.number == 1 else REFUSED[step.uid % len(REFUSED)]
            what = f"setPolicy({policy}) of uid {step.uid} without the permission"
            self._must(
                lambda: checks.raises(lambda: app.client.manager.set_policy(policy, parameters), SecurityDenied, what)
            )
        else:
            self._is_no_command(step.uid, POLICY_COMMANDS[step.number - (DENIED - len(POLICY_COMMANDS))])
        grant(step.uid, PERMISSION, True)
        grant(step.uid, DUMP_PERMISSION, False)

    def _denied_request(self, app: ClientApp) -> None:
        request = ModelLoadRequest(REFUSED_ID)
        try:
            app.client.request(request, CallbackRecorder())
        except SecurityDenied:
            return
        self._warn("a request without the permission is taken")
        self.fixture.control.grant_permission(app.uid, PERMISSION, True)
        app.client.manager.cancel_model_load(request)

    def _refuse(self, step: Step) -> None:
        """What is wrong is rejected, and leaves no trace (NPU-REQ-011, -013, NPU-POL-002, -007, -008)."""
        if step.number < len(REFUSED):
            policy, parameters = REFUSED[step.number]
            what = f"setPolicy({policy}, {parameters})"
            manager = self.fixture.settings.manager
            self._must(lambda: checks.raises(lambda: manager.set_policy(policy, parameters), IllegalArgument, what))
            return
        client = self.apps[step.uid].client
        request = ModelLoadRequest(REFUSED_ID)
        try:
            client.manager.request_can_load_model(request, None)
        except IllegalArgument:
            return
        self._warn("a request without a callback is taken")
        client.manager.cancel_model_load(request)

    def _dump(self, step: Step) -> None:
        app, grant = self.apps[step.uid], self.fixture.control.grant_permission
        if step.number == 0:
            self._judge_dump(self._say(SHELL_UID, "info").output)
        elif step.number == 1:
            self._is_not_told(lambda: app.client.manager.dump())
            self._is_not_told(lambda: self._say(app.uid, "info").output)
        else:
            grant(app.uid, DUMP_PERMISSION, True)
            self._judge_dump(app.client.manager.dump())
            grant(app.uid, DUMP_PERMISSION, False)
            self._is_not_told(lambda: app.client.manager.dump())

    def _is_not_told(self, call: Callable[[], str]) -> None:
        """Who may not dump sees nothing of it (NPU-OBS-002)."""
        try:
            text = call()
        except SecurityDenied:
            return
        if "Policy:" in text or "Priorities:" in text:
            self.fail("a dump was given to an app without the permission to it")

    def _judge_dump(self, text: str) -> None:
        """See that it says of policy, requests and priorities what is so (NPU-OBS-001, -003)."""
        at_hal = None if self.suspended or self.model.pressed else self.hal.table
        problem = next(self._dumps.problems(text, self.model, [*self.apps], at_hal), None)
        if problem is not None:
            self.fail(f"{problem}, in the dump {text!r}")

    def _command(self, step: Step) -> str:
        return COMMANDS[step.number % len(COMMANDS)]

    def _shell(self, step: Step) -> None:
        command = self._command(step)
        if command in POLICY_COMMANDS:
            policy = Policy(POLICY_COMMANDS.index(command))
            self.model.replace_policy(policy, 1 if policy is Policy.TURN_TAKING else DEFAULT_WEIGHTS[2])
            self._must(
                lambda: checks.equal(self._say(SHELL_UID, command).exit_code, 0, f"exit code of cmd npu {command}")
            )
        elif command in ("enable", "disable"):
            for uid in (step.uid, SHELL_UID, SYSTEM_UID):
                self._is_no_command(uid, command)
        else:
            self._judge_usage(self._say(SHELL_UID, *([command] if command else [])))

    def _judge_usage(self, result: ShellResult) -> None:
        """An unknown command prints the usage, with another exit code than 0 (NPU-OBS-004)."""
        if result.exit_code == 0 or "usage: cmd npu" not in result.output:
            self.fail(f"an unknown command: exit code {result.exit_code}, output {result.output!r}")

    def _is_no_command(self, uid: int, command: str) -> None:
        """Who has no right to a command does not hear that it is done (NPU-OBS-005, NPU-ACC-004)."""
        with suppress(SecurityDenied):
            if self._say(uid, command).exit_code == 0:
                self.fail(f"cmd npu {command} of uid {uid}: expected a rejection, found exit code 0")

    def _say(self, uid: int, *words: str) -> ShellResult:
        if uid in self.apps:
            return self.apps[uid].client.manager.shell_command(words)
        if uid not in self._connected:
            self._connected[uid] = Client(self.fixture.context, uid)
        return self._connected[uid].manager.shell_command(words)

    def _root(self, command: str) -> None:
        """While root's command lasts the HAL, which is the suite's, may be told something."""
        shell = shell_of(self.fixture.context, ROOT_UID)
        self._must(lambda: checks.equal(shell(command).exit_code, 0, f"exit code of cmd npu {command}"))

    def _suspend(self, step: Step) -> None:
        self._root("disable")
        self.suspended = True

    def _resume(self, step: Step) -> None:
        """What the HAL has of the manager by then is the whole table, and the callback (NPU-OBS-005, NPU-PRI-006)."""
        before = len(self.hal.pushes)
        was_suspended, self.suspended = self.suspended, False
        if was_suspended:  # somebody else may have had the HAL meanwhile
            self.hal.table.clear()
            self.hal.callback = None
        self._root("enable")
        self.fixture.settle()
        if was_suspended:
            self._judge_introduction(before)

    def _hal(self, step: Step) -> None:
        """The next HAL gets the whole table, then the callback, unless pushes are suspended (NPU-PRI-006, -007)."""
        control = self.fixture.control
        if step.own:  # the manager finds it out by what it pushes
            self.hal.dead = True
        else:
            control.kill_hal()
        self._importance[step.uid] = step.number
        self._rank(step.uid)
        control.set_importance(step.uid, step.number)
        self.hal = RecordingHal(self.fixture)
        control.connect_hal(self.hal)
        self.fixture.settle()
        self._pushes = 0
        if not self.suspended:
            self._judge_introduction(0)

    def _judge_introduction(self, before: int) -> None:
        calls = [call for call, _ in self.hal.pushes[before:]]
        if calls[:1] != ["set"] or self.hal.callback is None:
            self.fail(f"a HAL to be introduced got the pushes {calls}, callback: {self.hal.callback is not None}")
        missing = {ROOT_UID, SYSTEM_UID} - {*self.hal.table}
        if missing:
            self.fail(f"no configs of the uids {sorted(missing)} in the table for a HAL")

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

    def _declare(self, step: Step) -> None:
        self._targets[step.uid] = BLOCKING_SDK
        super()._declare(step)

    def _update(self, step: Step) -> None:
        (self._undeclared.discard if step.number else self._undeclared.add)(step.uid)
        self._targets[step.uid] = step.id
        self._rank(step.uid)
        self.fixture.control.update_app(step.uid, bool(step.number), step.id, bool(step.priority))

    def _reinstall(self, step: Step) -> None:
        """Its requests vanish, and it begins at 1000 and without rights (NPU-PRI-009 to -011, NPU-LIF-019)."""
        app = self.apps[step.uid]
        for tracked in self.model.live:
            tracked.dead = tracked.dead or tracked.uid == step.uid
        for client in self.fixture.clients:
            client.alive = client.alive and client.uid != step.uid
        self._undeclared.discard(step.uid)
        self._attributing.discard(step.uid)
        self._targets.pop(step.uid, None)
        self._importance[step.uid] = MAX_PRIORITY
        self._rank(step.uid)
        self.model.forget(step.uid)
        app.client = install_only(self.fixture.context, step.uid)
        self.fixture.clients.append(app.client)

    def _must(self, check: Callable[[], object]) -> None:
        """Name the steps with what a check says."""
        must(check, self.steps)
