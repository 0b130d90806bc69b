"""The steps of random scenarios about the manager as a service: rights, wrong arguments, dumps, the shell."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import REJECTIONS, CallbackRecorder, Client, is_denied
from npu_conformance.cts.lib.manager_dump import ManagerDump
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_observation import shell_of
from npu_conformance.cts.lib.scenario_dump import DumpJudge
from npu_conformance.cts.lib.scenario_runner import ScenarioRunner
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.cts.lib.service_choices import (
    COMMANDS,
    DENIED,
    DENIED_CALLS,
    PARAMETERS,
    POLICY_COMMANDS,
    REFUSED,
    REFUSED_ID,
    broken_by,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_model import DEFAULT_WEIGHTS
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.types import (
    DUMP_PERMISSION,
    PERMISSION,
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    ModelLoadRequest,
    Policy,
    PolicyParameters,
    ShellResult,
)


class ServiceCalls(ScenarioRunner):
    """A scenario runner that knows these steps as well.

    suspended: root has suspended pushes. absent: there is no HAL.
    """

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        super().__init__(fixture, hal)
        self.suspended = False
        self.absent = False
        self._dumps = DumpJudge()
        self._connected: dict[int, Client] = {}

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
            attempt = partial(app.client.manager.set_policy, policy, parameters)
            self._must("NPU-ACC-004", lambda: checks.raises(attempt, SecurityDenied, what))
        else:
            self._is_no_command(step.uid, POLICY_COMMANDS[step.number - (DENIED - len(POLICY_COMMANDS))])
        grant(step.uid, PERMISSION, True)
        grant(step.uid, DUMP_PERMISSION, False)

    def _denied_request(self, app: ClientApp) -> None:
        request = ModelLoadRequest(REFUSED_ID)
        if is_denied(partial(app.client.request, request, CallbackRecorder())):
            return
        self._warn("a request without the permission is taken")
        self.fixture.control.grant_permission(app.uid, PERMISSION, True)
        app.client.manager.cancel_model_load(request)

    def _denied(self, step: Step) -> None:
        """What an app says of a request without the permission ought to be rejected, and no more (NPU-ACC-005)."""
        tracked, listener = self._with_listener(step)
        if tracked is None or tracked.ended or listener is None:
            return
        deed, manager = DENIED_CALLS[step.number], self.owners[tracked].manager
        grant = self.fixture.control.grant_permission
        calls = (manager.cancel_model_load, listener.notify_model_loaded, listener.notify_model_unloaded)
        before = self._read_dump()
        grant(step.uid, PERMISSION, False)
        is_rejected = is_denied(partial(calls[step.number], tracked.request))
        grant(step.uid, PERMISSION, True)
        self.fixture.settle()
        self._receive()
        if not is_rejected or tracked.new_events or self._read_dump() != before:
            self._warn(f"without the permission, {'rejected and ' if is_rejected else ''}carried out: {deed}")
            self._carried_out(deed, tracked)

    def _carried_out(self, deed: str, tracked: TrackedRequest) -> None:
        """It is as if its app had said so with the permission."""
        if deed == "cancel":
            tracked.cancelled = True
        elif deed == "unload":
            tracked.unloaded = True
        elif not tracked.loaded:
            tracked.loaded, tracked.ungranted = True, not tracked.holds

    def _refuse(self, step: Step) -> None:
        """What is wrong is rejected, and leaves no trace (NPU-REQ-011, -013, NPU-POL-002, -007, -008)."""
        if step.number < len(REFUSED):
            policy, parameters = REFUSED[step.number]
            what = f"setPolicy({policy}, {parameters})"
            manager = self.fixture.settings.manager
            attempt = partial(manager.set_policy, policy, parameters)
            self._must(broken_by(policy, parameters), lambda: checks.raises(attempt, IllegalArgument, what))
            return
        client = self.apps[step.uid].client
        request = ModelLoadRequest(REFUSED_ID)
        try:
            client.manager.request_can_load_model(request, None)
        except REJECTIONS:
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
            self.fail("NPU-OBS-002", "a dump was given to an app without the permission to it")

    def _read_dump(self) -> ManagerDump:
        return manager_dump.read(self.fixture.settings.manager.dump())

    def _judge_dump(self, text: str) -> None:
        """See that it says of policy, requests and priorities what is so (NPU-OBS-001, -003)."""
        is_known = not (self.suspended or self.absent or self.model.pressed)
        ranks = None if self.model.pressed else {uid: self.model.importance[uid] for uid in self._ranked}
        table = self.hal.table if is_known else None
        problem = next(self._dumps.problems(text, self.model, self.installed, table, ranks), None)
        if problem is not None:
            requirement, what = problem
            self.fail(requirement, f"{what}, in the dump:\n{text}")

    @property
    def _ranked(self) -> list[int]:
        return [uid for uid in self.installed if uid not in self._undeclared]

    def _command(self, step: Step) -> str:
        return COMMANDS[step.number % len(COMMANDS)]

    def _shell(self, step: Step) -> None:
        command = self._command(step)
        if command in POLICY_COMMANDS:
            policy = Policy(POLICY_COMMANDS.index(command))
            self.model.replace_policy(policy, 1 if policy is Policy.TURN_TAKING else DEFAULT_WEIGHTS[2])
            what = f"exit code of cmd npu {command}"
            self._must("NPU-OBS-003", lambda: checks.equal(self._say(SHELL_UID, command).exit_code, 0, what))
        elif command in ("enable", "disable"):
            for uid in (step.uid, SHELL_UID, SYSTEM_UID):
                self._is_no_command(uid, command)
        else:
            self._judge_usage(self._say(SHELL_UID, *([command] if command else [])))

    def _judge_usage(self, result: ShellResult) -> None:
        """An unknown command prints the usage, with another exit code than 0 (NPU-OBS-004)."""
        if result.exit_code == 0 or "usage: cmd npu" not in result.output:
            what = f"an unknown command: exit code {result.exit_code}, output {result.output!r}"
            self.fail("NPU-OBS-004", what)

    def _is_no_command(self, uid: int, command: str) -> None:
        """Who has no right to a command does not hear that it is done (NPU-OBS-005, NPU-ACC-004)."""
        with suppress(SecurityDenied):
            if self._say(uid, command).exit_code == 0:
                rule = "NPU-OBS-005" if command in ("enable", "disable") else "NPU-ACC-004"
                self.fail(rule, f"cmd npu {command} of uid {uid}: expected a rejection, found exit code 0")

    def _say(self, uid: int, *words: str) -> ShellResult:
        if uid in self.apps:
            return self.apps[uid].client.manager.shell_command(words)
        if uid not in self._connected:
            self._connected[uid] = Client(self.fixture.context, uid)
        return self._connected[uid].manager.shell_command(words)

    def _root(self, command: str) -> None:
        """While root's command lasts the HAL, which is the suite's, may be told something."""
        shell = shell_of(self.fixture.context, ROOT_UID)
        what = f"exit code of cmd npu {command}"
        self._must("NPU-OBS-005", lambda: checks.equal(shell(command).exit_code, 0, what))

    def _warn(self, text: str) -> None:
        if text not in self.fixture.context.own.warnings:
            self.fixture.context.warn_quality(text)

    def _must(self, requirement: str, check: Callable[[], object]) -> None:
        """Name the requirement, and the steps, with what a check says."""
        with checks.about(requirement):
            must(check, self.steps)
