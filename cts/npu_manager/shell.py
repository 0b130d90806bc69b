"""The shell command of the manager: it sets policies, prints what the dump prints, and suspends pushes to the HAL."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, UIDS_OF_A_USER, UNLOAD, ManagerFixture
from npu_conformance.cts.lib.manager_observation import dump, pushes_suspended, shell_of
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.types import (
    MAX_PRIORITY,
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    Importance,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.observation", interface="manager", group=Group.MANAGER_QUERIES)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_COMMANDS = {
    "set-status-quo-policy": Policy.STATUS_QUO,
    "set-turn-taking-policy": Policy.TURN_TAKING,
    "set-budget-policy": Policy.BUDGET,
}


@cases.case("shell_sets_policies", "NPU-OBS-003")
def shell_sets_policies(context: CaseContext) -> None:
    """Each command sets its policy, with exit code 0, and `info` prints what the dump prints."""
    fixture = ManagerFixture(context)
    shell = shell_of(context)
    for command, policy in _COMMANDS.items():
        checks.equal(shell(command).exit_code, 0, f"exit code of cmd npu {command}")
        information = shell("info")
        checks.equal(information.exit_code, 0, "exit code of cmd npu info")
        printed = manager_dump.read(information.output)
        checks.equal(printed.policy, policy, "the policy that cmd npu info prints")
        checks.equal(printed, dump(fixture), "what cmd npu info prints, against the dump")


@cases.case("shell_sets_defaults", "NPU-OBS-003", "NPU-POL-005", "NPU-POL-006")
def shell_sets_defaults(context: CaseContext) -> None:
    """A policy that the shell sets is the one that setPolicy sets without parameters, whatever was set before."""
    shell = shell_of(context)
    for command, policy in _COMMANDS.items():
        fixture = ManagerFixture(context, policy)
        expected = dump(fixture)
        fixture.settings.manager.set_policy(Policy.BUDGET, PolicyParameters(3))
        shell(command)
        checks.equal(dump(fixture), expected, f"the dump behind cmd npu {command}")


@cases.case("shell_policy_gates", "NPU-OBS-003", "NPU-POL-004")
def shell_policy_gates(context: CaseContext) -> None:
    """A policy that the shell has set decides about requests."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    shell_of(context)("set-turn-taking-policy")
    app = fixture.app(VISIBLE)
    app.granted(SMALL)
    app.asks(SMALL).receives(PARKED)


@cases.case("shell_usage", "NPU-OBS-004")
def shell_usage(context: CaseContext) -> None:
    """No command, and an unknown one, print the usage and exit with another code than 0; no policy is set."""
    fixture = ManagerFixture(context)
    shell = shell_of(context)
    unknown = ("help-me", "set-policy", "", "information", "inf", "set_turn_taking_policy")
    for words in ((), *((word,) for word in unknown)):
        result = shell(*words)
        what = f"cmd npu {' '.join(words)}"
        checks.that(result.exit_code != 0, f"{what}: expected an exit code other than 0, found 0")
        checks.that("usage: cmd npu" in result.output, f"{what}: expected the usage, found {result.output!r}")
    checks.equal(dump(fixture).policy, Policy.BUDGET, "the policy in the dump")


@cases.case("shell_suspends_pushes", "NPU-OBS-005", "NPU-PRI-006")
def shell_suspends_pushes(context: CaseContext) -> None:
    """`disable` lets the HAL alone until `enable`, which sends the table as it is by then; both for root only."""
    fixture = ManagerFixture(context)
    root = shell_of(context, ROOT_UID)
    app = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, VISIBLE)
        checks.equal(root("disable").exit_code, 0, "exit code of cmd npu disable")
        try:
            before = len(hal.pushes)
            app.moves(CACHED)
            checks.equal(len(hal.pushes), before, "number of pushes while they are suspended")
        finally:
            resumed = root("enable")
        checks.equal(resumed.exit_code, 0, "exit code of cmd npu enable")
        hal.expect(app.uid, CACHED)


@cases.case("shell_root_only", "NPU-OBS-005")
def shell_root_only(context: CaseContext) -> None:
    """A caller other than root, be it the system, cannot suspend pushes, whatever the command answers."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, VISIBLE)
        try:
            for uid in (app.uid, SHELL_UID, SYSTEM_UID, UIDS_OF_A_USER):
                code = _disable(context, uid)
                checks.that(code != 0, f"cmd npu disable of uid {uid}: expected an exit code other than 0, found 0")
            app.moves(CACHED)
            hal.expect(app.uid, CACHED)
        finally:
            shell_of(context, ROOT_UID)("enable")


def _disable(context: CaseContext, uid: int) -> int:
    try:
        return shell_of(context, uid)("disable").exit_code
    except SecurityDenied:
        return 1


@cases.case("shell_enable_sends_all", "NPU-OBS-005", "NPU-PRI-006")
def shell_enable_sends_all(context: CaseContext) -> None:
    """One `enable` sends the whole table, however often `disable` was said and whatever was missed.

    Somebody else may have set other configs meanwhile. Whether the table replaces or updates them is free, and so is
    whether a HAL that has the callback gets it again.
    """
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        for times in (1, 2):
            _suspended(fixture, hal, times)
            hal.expect(app.uid, VISIBLE)
            app.moves(CACHED)
            hal.expect(app.uid, CACHED)
            app.moves(VISIBLE)
            hal.expect(app.uid, VISIBLE)


def _suspended(fixture: ManagerFixture, hal: RecordingHal, times: int) -> None:
    """Suspend pushes so many times, have somebody else weaken every uid, and resume them once."""
    root = shell_of(fixture.context, ROOT_UID)
    known = hal.table
    for _ in range(times):
        root("disable")
    hal.table = {uid: replace(config, priority=MAX_PRIORITY) for uid, config in known.items()}
    checks.equal(root("enable").exit_code, 0, "exit code of cmd npu enable")
    fixture.wait(lambda: hal.table == known)
    checks.equal(hal.table, known, f"the table at the HAL after enable, behind {times} times disable")


@cases.case("suspended_for_every_hal", "NPU-OBS-005", "NPU-PRI-006", "NPU-PRI-007")
def suspended_for_every_hal(context: CaseContext) -> None:
    """A HAL that comes while pushes are suspended is let alone until `enable`, which sends it table and callback."""
    fixture = ManagerFixture(context)
    root = shell_of(context, ROOT_UID)
    app = fixture.app(VISIBLE)
    with pushes_suspended(root), recording_hal(fixture) as hal:
        fixture.settle()
        checks.equal(hal.pushes, [], "pushes to a HAL that comes while they are suspended")
        root("enable")
        hal.expect(app.uid, VISIBLE)
        checks.equal(hal.pushes[0][0], "set", "first push at enable to a HAL that came meanwhile")
        fixture.wait(lambda: hal.callback is not None)
        checks.that(hal.callback is not None, "expected the callback registered at enable, found none")


@cases.case("suspended_pushes_and_policy", "NPU-OBS-005", "NPU-PRI-013", "NPU-LIF-008")
def suspended_pushes_and_policy(context: CaseContext) -> None:
    """While pushes are suspended the loading policy follows the apps' importance as ever."""
    fixture = ManagerFixture(context)
    root = shell_of(context, ROOT_UID)
    holder, riser = fixture.app(VISIBLE), fixture.app(CACHED)
    held, parked = holder.loads(LARGE), riser.asks(LARGE)
    parked.receives(PARKED)
    with pushes_suspended(root):
        riser.moves(FOREGROUND)
        held.receives(GRANT, UNLOAD)
        parked.receives(PARKED, WAIT)


@cases.case("suspended_pushes_and_work", "NPU-OBS-005", "NPU-POL-018", "NPU-POL-017")
def suspended_pushes_and_work(context: CaseContext) -> None:
    """While pushes are suspended completed work ends turns as ever."""
    fixture = ManagerFixture(context)
    root = shell_of(context, ROOT_UID)
    holder, waiter = fixture.app(VISIBLE), fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        held, parked = holder.loads(LARGE), waiter.asks(LARGE)
        parked.receives(PARKED)
        with pushes_suspended(root):
            hal.works(holder.uid)
            held.receives(GRANT, UNLOAD)
            held.unload()
            parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])
