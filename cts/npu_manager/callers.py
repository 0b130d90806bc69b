"""Who may do what: every kind of caller against every call, and what none of them may reach.

Root and the system hold every permission in Android, and the shell those that it needs; so of these only what belongs
to root alone, and what no right opens, is judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from npu_conformance.cts.lib.manager_client import (
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    CallbackRecorder,
    Client,
    install_only,
    is_denied,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, UIDS_OF_A_USER, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_observation import pushes_suspended, shell_of
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    BLOCKING_SDK,
    DUMP_PERMISSION,
    PERMISSION,
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    Importance,
    ModelLoadRequest,
    Policy,
    ShellResult,
)

cases = CaseGroup("cts.npu_manager.callers", interface="manager", group=Group.MANAGER_VALIDATION)

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
_RIGHTS = (PERMISSION, DUMP_PERMISSION, ATTRIBUTION_PERMISSION)
_POLICIES = ("set-status-quo-policy", "set-turn-taking-policy", "set-budget-policy")


@cases.case("each_right_opens_its_own", "NPU-ACC-004", "NPU-OBS-002", "NPU-OBS-003", "NPU-PRI-011")
def each_right_opens_its_own(context: CaseContext) -> None:
    """Whatever rights an app has together, each opens what it is for: policies, the dump, or attribution.

    That counts at the HAL by the next push about the app.
    """
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    app = fixture.app(VISIBLE)
    app.client.alive = False  # it gets no callbacks, and may not even make a call that does nothing
    with recording_hal(fixture) as hal:
        for held in itertools.product((False, True), repeat=len(_RIGHTS)):
            rights = dict(zip(_RIGHTS, held, strict=True))
            for permission, granted in rights.items():
                fixture.control.grant_permission(app.uid, permission, granted)
            _judge_rights(context, app, rights)
            _judge_attribution(fixture, hal, app, rights)


def _judge_attribution(fixture: ManagerFixture, hal: RecordingHal, app: ClientApp, rights: dict[str, bool]) -> None:
    expected = rights[ATTRIBUTION_PERMISSION]
    importance = CACHED if hal.priority(app.uid) == VISIBLE else VISIBLE
    app.moves(importance)
    hal.expect(app.uid, importance)
    fixture.wait(lambda: _may_attribute(hal, app) == expected)
    checks.equal(_may_attribute(hal, app), expected, f"attribution at the HAL of an app with {rights}")


def _may_attribute(hal: RecordingHal, app: ClientApp) -> bool:
    config = hal.table.get(app.uid)
    return config is not None and config.can_attribute_other_uid


def _judge_rights(context: CaseContext, app: ClientApp, rights: dict[str, bool]) -> None:
    """A shell command may be kept from apps altogether; the calls may not."""
    manager, shell = app.client.manager, shell_of(context, app.uid)
    given = " and ".join(name.rpartition(".")[2] for name, granted in rights.items() if granted) or "no right"
    by_policy = not is_denied(lambda: manager.set_policy(Policy.STATUS_QUO, None))
    checks.equal(by_policy, rights[PERMISSION], f"whether setPolicy is let through for an app with {given}")
    by_dump = _tells(manager.dump)
    checks.equal(by_dump, rights[DUMP_PERMISSION], f"whether an app with {given} may dump")
    if not rights[DUMP_PERMISSION]:
        told = _tells(lambda: shell("info").output)
        checks.that(not told, f"cmd npu info of an app with {given}: expected a rejection, found what a dump tells")
    for command in () if rights[PERMISSION] else _POLICIES:
        done = _succeeds(shell, command)
        checks.that(not done, f"cmd npu {command} of an app with {given}: expected a rejection, found exit code 0")


def _tells(call: Callable[[], str]) -> bool:
    """True where a text has what only those may see who may dump."""
    try:
        return "Priorities:" in call()
    except SecurityDenied:
        return False


def _succeeds(shell: Callable[..., ShellResult], command: str) -> bool:
    try:
        return shell(command).exit_code == 0
    except SecurityDenied:
        return False


@cases.case("enable_is_for_root", "NPU-OBS-005", group=Group.MANAGER_QUERIES)
def enable_is_for_root(context: CaseContext) -> None:
    """Pushes that root has suspended stay suspended whoever else says `enable`, whatever rights an app has."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    for permission in _RIGHTS:
        fixture.control.grant_permission(app.uid, permission, True)
    root = shell_of(context, ROOT_UID)
    with recording_hal(fixture) as hal:
        with pushes_suspended(root):
            pushes = len(hal.pushes)
            for uid in (app.uid, SHELL_UID, SYSTEM_UID, UIDS_OF_A_USER):
                done = _succeeds(shell_of(context, uid), "enable")
                checks.that(not done, f"cmd npu enable of uid {uid}: expected a rejection, found exit code 0")
            app.moves(CACHED)
            checks.equal(len(hal.pushes), pushes, "pushes to a HAL that root has suspended them to")
        hal.expect(app.uid, CACHED)


@cases.case("strangers_reach_no_request", "NPU-REQ-009", "NPU-LIF-014", group=Group.MANAGER_REQUESTS)
def strangers_reach_no_request(context: CaseContext) -> None:
    """No other uid cancels an app's request: not root, the system or the shell, nor the same app of another user."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    loaded, parked = app.loads(LARGE), app.asks(LARGE)
    parked.receives(PARKED)
    seen = [loaded.notifications, parked.notifications]
    for stranger in _strangers(context, app):
        for model in (loaded, parked):
            is_denied(partial(stranger.manager.cancel_model_load, model.request))
        fixture.settle()
        found = [loaded.notifications, parked.notifications]
        checks.equal(found, seen, f"callbacks after uid {stranger.uid} has cancelled ids that are another's")
    parked.cancel()
    parked.is_cancelled()


def _strangers(context: CaseContext, app: ClientApp) -> list[Client]:
    uids = (ROOT_UID, SYSTEM_UID, SHELL_UID, app.uid + UIDS_OF_A_USER, app.uid + 10 * UIDS_OF_A_USER)
    return [Client(context, uid) for uid in uids]


@cases.case("same_app_of_two_users", "NPU-REQ-009", "NPU-PRI-002", "NPU-LIF-019", group=Group.MANAGER_PRIORITIES)
def same_app_of_two_users(context: CaseContext) -> None:
    """One app of two users is two apps: each has its importance, its requests under the same ids, and its death."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        first = fixture.app(VISIBLE)
        second = fixture.app(CACHED, user=10, twin_of=first)
        for mover, importance in ((first, Importance.FOREGROUND), (second, Importance.SERVICE), (first, CACHED)):
            other = second if mover is first else first
            before = hal.priority(other.uid)
            mover.moves(importance)
            hal.expect(mover.uid, importance)
            fixture.control.update_app(other.uid, True, BLOCKING_SDK)  # its config may be made anew by that
            fixture.settle()
            checks.equal(hal.priority(other.uid), before, "the priority of the other user's app")
    held, others = first.asks(SMALL, identifier=7), second.asks(SMALL, identifier=7)
    held.receives(GRANT)
    others.receives(GRANT)
    others.cancel()
    others.receives(GRANT, CANCELLED)
    held.receives(GRANT)
    second.dies()
    first.asks(SMALL, identifier=8).receives(GRANT)
    held.receives(GRANT)


@cases.case("strangers_notify_of_no_request", "NPU-LIF-024", "NPU-REQ-009", group=Group.MANAGER_REQUESTS)
def strangers_notify_of_no_request(context: CaseContext) -> None:
    """What root, the shell, the system or another user's app notifies counts for no request of an app under that id."""
    fixture = ManagerFixture(context)
    app = fixture.app(Importance.FOREGROUND)
    loaded, parked = app.loads(LARGE), app.asks(LARGE)
    parked.receives(PARKED)
    for stranger, number in itertools.product(_requesters(fixture, app), (70, loaded.request.id, parked.request.id)):
        recorder = CallbackRecorder()
        own = ModelLoadRequest(number, LARGE)
        if is_denied(partial(stranger.request, own, recorder)):
            continue
        fixture.wait(partial(bool, recorder.events))
        for listener in [event.listener for event in recorder.events if event.listener is not None]:
            for model in (loaded, parked):
                is_denied(partial(listener.notify_model_loaded, model.request))
                is_denied(partial(listener.notify_model_unloaded, model.request))
        stranger.manager.cancel_model_load(own)
        loaded.receives(GRANT)
        parked.receives(PARKED)
    loaded.unload()
    loaded.receives(GRANT, COMPLETE)


def _requesters(fixture: ManagerFixture, app: ClientApp) -> list[Client]:
    """Strangers that may ask for models of their own, as far as they can be had, and are no stronger than the app."""
    found = [fixture.app(CACHED, user=10, twin_of=app).client]
    found += [Client(fixture.context, uid) for uid in (ROOT_UID, SHELL_UID)]
    with suppress(IllegalArgument):  # the system may be no app that can be installed
        found.append(install_only(fixture.context, SYSTEM_UID))
    return found
