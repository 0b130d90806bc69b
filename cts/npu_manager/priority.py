"""Priorities: what the manager makes of an app's importance, and what it pushes to the scheduling HAL, and when.

The suite is the HAL below the manager, and so sees each push.
"""

from __future__ import annotations

from contextlib import suppress

from npu_conformance.cts.lib.manager_client import GRANT, PARKED, WAIT, install_only, package_of
from npu_conformance.cts.lib.manager_fixture import LARGE, UIDS_OF_A_USER, UNLOAD, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_needs import need_ranking_of
from npu_conformance.cts.lib.manager_work import Run
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, next_hal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, Unsupported
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    BLOCKING_SDK,
    MAX_PRIORITY,
    ROOT_UID,
    SYSTEM_UID,
    Importance,
)

cases = CaseGroup("cts.npu_manager.priority", interface="manager", group=Group.MANAGER_PRIORITIES)

FOREGROUND, VISIBLE, CACHED, GONE = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED, Importance.GONE
_STATIC = (ROOT_UID, SYSTEM_UID)
_NATIVE = 10_298
"""A uid of no app."""


@cases.case("follows_importance", "NPU-PRI-005", "NPU-PRI-001", "NPU-PRI-002", scope=Scope.SMOKE)
def follows_importance(context: CaseContext) -> None:
    """An app's priority is its importance, at each change, and nobody else's priority changes with it."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        app, other = fixture.app(CACHED), fixture.app(VISIBLE)
        for importance in (*Importance, FOREGROUND, GONE):
            app.moves(importance)
            hal.expect(app.uid, importance)
            hal.expect(other.uid, VISIBLE)


@cases.case("changes_are_updates", "NPU-PRI-005")
def changes_are_updates(context: CaseContext) -> None:
    """A change is pushed with the updating call, which changes no other app; the replacing call would forget them.

    The whole table may come again behind the update.
    """
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        app, other = fixture.app(CACHED), fixture.app(FOREGROUND)
        hal.expect(other.uid, FOREGROUND)
        before, pushes = dict(hal.table), len(hal.pushes)
        app.moves(VISIBLE)
        hal.expect(app.uid, VISIBLE)
        calls = [call for call, _ in hal.pushes[pushes:]]
        checks.equal(calls[:1], ["update"], "first push at a change of importance")
        for call, configs in hal.pushes[pushes:]:
            forgotten = {*before} - {one.uid for one in configs} if call == "set" else set()
            checks.equal(forgotten, set(), "uids that the HAL forgets behind a change of importance")
        changed = [uid for uid, config in before.items() if hal.table.get(uid) != config]
        checks.equal(changed, [app.uid], "uids whose configs a change of importance has changed")


@cases.case("pushed_before_policy", "NPU-PRI-005", "NPU-PRI-013")
def pushed_before_policy(context: CaseContext) -> None:
    """The HAL knows of a change before any app is notified of what the loading policy makes of it."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        holder, riser = fixture.app(VISIBLE), fixture.app(CACHED)
        held, parked = holder.loads(LARGE), riser.asks(LARGE)
        parked.receives(PARKED)
        fixture.settle()
        received = sum(len(client.recorder.events) for client in fixture.clients)
        before = len(hal.pushes)
        riser.moves(FOREGROUND)
        held.is_outranked()
        parked.receives(PARKED, WAIT)
        hal.expect(riser.uid, FOREGROUND)
        checks.equal(hal.received_at_push[before], received, "callbacks that apps had got when the change was pushed")


@cases.case("table_on_connecting", "NPU-PRI-006", "NPU-PRI-003")
def table_on_connecting(context: CaseContext) -> None:
    """A HAL that comes gets the whole table by the replacing call: each app's importance, and root and system fixed."""
    fixture = ManagerFixture(context)
    apps = {fixture.app(importance): importance for importance in (FOREGROUND, VISIBLE, CACHED)}
    with recording_hal(fixture) as hal:
        _judge_first_table(hal, apps)


@cases.case("table_after_death", "NPU-PRI-006", "NPU-PRI-007", "NPU-PRI-003")
def table_after_death(context: CaseContext) -> None:
    """After the HAL's death the next one gets the whole table and the callback; what apps hold or want is kept."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as first:
        holder, waiter = fixture.app(VISIBLE), fixture.app(VISIBLE)
        held, parked = holder.loads(LARGE), waiter.asks(LARGE)
        parked.receives(PARKED)
        first.expect(holder.uid, VISIBLE)
        fixture.control.kill_hal()
        holder.moves(CACHED)
        held.is_outranked()
        with next_hal(fixture) as second:
            _judge_first_table(second, {holder: CACHED, waiter: VISIBLE})
            checks.that(second.callback is not None, "expected the callback registered with the new HAL, found none")
        held.unload()
        parked.receives(PARKED, WAIT, GRANT)


@cases.case("table_after_a_lost_push", "NPU-PRI-007", "NPU-PRI-006")
def table_after_a_lost_push(context: CaseContext) -> None:
    """A HAL that is found dead when something is pushed is done without, and the next gets the table and the callback.

    Without a hint that the HAL has died, the push is the first that the manager learns of it.
    """
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as first:
        app = fixture.app(VISIBLE)
        first.expect(app.uid, VISIBLE)
        first.dead = True
        app.moves(CACHED)
        app.loads(LARGE)
        with next_hal(fixture) as second:
            _judge_first_table(second, {app: CACHED})
            checks.that(second.callback is not None, "expected the callback registered with the new HAL, found none")
            app.moves(VISIBLE)
            second.expect(app.uid, VISIBLE)


@cases.case("rotation_after_death", "NPU-PRI-007", "NPU-POL-018")
def rotation_after_death(context: CaseContext) -> None:
    """Work that the new HAL reports counts as before."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture):
        holder, waiter = fixture.app(VISIBLE), fixture.app(VISIBLE)
        held, parked = holder.loads(LARGE), waiter.asks(LARGE)
        parked.receives(PARKED)
        with suppress(Unsupported):  # then the next HAL comes in place of a living one
            fixture.control.kill_hal()
        with next_hal(fixture) as hal:
            hal.works(holder.uid)
            held.receives(GRANT, UNLOAD)


@cases.case("ranked_without_a_hal", "NPU-PRI-013", "NPU-PRI-007")
def ranked_without_a_hal(context: CaseContext) -> None:
    """An importance that changes while the HAL is dead, known to be or not, counts for the loading policy at once."""
    for is_told in (False, True):
        fixture = ManagerFixture(context)
        with recording_hal(fixture) as hal:
            holder, riser = fixture.app(VISIBLE), fixture.app(CACHED)
            held, parked = holder.loads(LARGE), riser.asks(LARGE)
            parked.receives(PARKED)
            hal.dead = True
            if is_told:
                with suppress(Unsupported):  # then its first push tells
                    fixture.control.kill_hal()
            riser.moves(FOREGROUND)
            held.receives(GRANT, UNLOAD)
            parked.receives(PARKED, WAIT)
            riser.moves(CACHED)
            holder.moves(FOREGROUND)
            held.unload()
            parked.receives_one_of([PARKED, WAIT, GRANT], [PARKED, WAIT, PARKED, GRANT])


@cases.case("fixed_uids", "NPU-PRI-003", "NPU-PRI-010")
def fixed_uids(context: CaseContext) -> None:
    """Root and system keep priority 100, whatever is said of their importance or packages."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        for uid in _STATIC:
            with suppress(IllegalArgument):  # a control that knows no such app says nothing of it
                fixture.control.install_app(uid, package_of(uid), True, BLOCKING_SDK)
            for importance in (CACHED, GONE, FOREGROUND, VISIBLE):
                with suppress(IllegalArgument):
                    fixture.control.set_importance(uid, importance)
            fixture.settle()
            _judge_fixed(hal)
            fixture.control.remove_app(uid)
            fixture.settle()
            _judge_fixed(hal)
    with next_hal(fixture) as hal:
        _judge_fixed(hal)


@cases.case("system_outranks", "NPU-PRI-003", "NPU-POL-013")
def system_outranks(context: CaseContext) -> None:
    """For the loading policies, too, the system is as important as a foreground app, whatever is said of it."""
    fixture = ManagerFixture(context)
    try:
        client = install_only(context, SYSTEM_UID)
    except IllegalArgument as error:
        raise NotApplicable(f"the system cannot be installed as an app: {error}") from None
    fixture.clients.append(client)
    with suppress(IllegalArgument):  # its importance may be none that can be set
        fixture.control.set_importance(SYSTEM_UID, CACHED)
    held = fixture.app(VISIBLE).loads(LARGE)
    wanted = ClientApp(fixture, client).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)


@cases.case("installed_app", "NPU-PRI-009", "NPU-PRI-004")
def installed_app(context: CaseContext) -> None:
    """A declaring app that was just installed is in the table at 1000, until its importance is known."""
    fixture = ManagerFixture(context)
    app = fixture.app(GONE)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, MAX_PRIORITY)
        app.moves(VISIBLE)
        hal.expect(app.uid, VISIBLE)


@cases.case("unknown_is_weakest", "NPU-PRI-004", "NPU-PRI-001")
def unknown_is_weakest(context: CaseContext) -> None:
    """An app that nobody has set an importance of is weaker than a cached one: it makes room."""
    fixture = ManagerFixture(context)
    unknown, cached = fixture.app(GONE), fixture.app(CACHED)
    held, wanted = unknown.loads(LARGE), cached.asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)


@cases.case("uid_without_an_app", "NPU-PRI-004", "NPU-PRI-010")
def uid_without_an_app(context: CaseContext) -> None:
    """A uid that no app has may work and change its importance: it is unknown at first, and disturbs nobody."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    fixture.control.grant_permission(app.uid, ATTRIBUTION_PERMISSION, True)
    with recording_hal(fixture) as hal:
        for uid in (_NATIVE, UIDS_OF_A_USER + SYSTEM_UID, 10 * UIDS_OF_A_USER + app.uid):
            fixture.control.remove_app(uid)
            hal.works(uid)
            _judge_unknown(hal, uid)
            with suppress(IllegalArgument):  # it may be unknown to the control interface, too
                fixture.control.set_importance(uid, FOREGROUND)
            fixture.control.remove_app(uid)
        app.granted()
        hal.expect(app.uid, VISIBLE)


@cases.case("removed_app", "NPU-PRI-010")
def removed_app(context: CaseContext) -> None:
    """A removed app is in no later table, and changes of its importance are pushed no more; others stay."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(VISIBLE), fixture.app(CACHED)
    app.client.alive = False
    fixture.control.remove_app(app.uid)
    with recording_hal(fixture) as hal:
        hal.expect(other.uid, CACHED)
        checks.equal(hal.priority(app.uid), None, f"priority of the removed uid {app.uid} at the HAL")
        _judge_fixed(hal)


@cases.case("attribution", "NPU-PRI-011")
def attribution(context: CaseContext) -> None:
    """Only an app with the permission to attribute work may do so, by the next push about it."""
    fixture = ManagerFixture(context)
    holder, other = fixture.app(VISIBLE), fixture.app(VISIBLE)
    fixture.control.grant_permission(holder.uid, ATTRIBUTION_PERMISSION, True)
    with recording_hal(fixture) as hal:
        for app in (holder, other):
            app.moves(CACHED)
            hal.expect(app.uid, CACHED)
        checks.equal(hal.table[holder.uid].can_attribute_other_uid, True, "attribution of a holder of the permission")
        checks.equal(hal.table[other.uid].can_attribute_other_uid, False, "attribution of another app")


@cases.case("attribution_withdrawn", "NPU-PRI-011")
def attribution_withdrawn(context: CaseContext) -> None:
    """An app from which the permission to attribute work is taken may not do so, by the next table at the latest."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    for permitted in (True, False, True):
        fixture.control.grant_permission(app.uid, ATTRIBUTION_PERMISSION, permitted)
        fixture.settle()
        with recording_hal(fixture) as hal:
            hal.expect(app.uid, VISIBLE)
            found = hal.table[app.uid].can_attribute_other_uid
            checks.equal(found, permitted, f"attribution of an app whose permission is {permitted}")


@cases.case("legacy_app_that_works", "NPU-PRI-008", "NPU-ACC-009")
def legacy_app_that_works(context: CaseContext) -> None:
    """In AOSP's profile an app that declared nothing is configured once work of its uid is reported."""
    need_ranking_of(context, "aosp")
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE, declares=False, target_sdk=36)
    with recording_hal(fixture) as hal:
        hal.requested(app.uid)
        hal.expect(app.uid, VISIBLE)
        checks.equal(hal.table[app.uid].has_direct_access, True, "direct access of an undeclared app for API 36")
        app.moves(CACHED)
        hal.expect(app.uid, CACHED)


@cases.case("undeclared_is_not_ranked", "NPU-PRI-014")
def undeclared_is_not_ranked(context: CaseContext) -> None:
    """In the public page's profile an app that declared nothing stays at 1000, in the foreground and at work."""
    need_ranking_of(context, "page")
    fixture = ManagerFixture(context)
    cached, undeclared = fixture.app(CACHED), fixture.app(FOREGROUND, declares=False, target_sdk=36)
    with recording_hal(fixture) as hal:
        hal.requested(undeclared.uid)
        undeclared.moves(VISIBLE)
        undeclared.moves(FOREGROUND)
        checks.member(hal.priority(undeclared.uid), (None, MAX_PRIORITY), "priority of an undeclared app at the HAL")
        held, parked = cached.loads(LARGE), undeclared.asks(LARGE)
        parked.receives(PARKED)
        held.receives(GRANT)


@cases.case("lost_declaration", "NPU-PRI-014")
def lost_declaration(context: CaseContext) -> None:
    """In the public page's profile an app whose update declares nothing any more makes room for a cached one."""
    need_ranking_of(context, "page")
    fixture = ManagerFixture(context)
    app, cached = fixture.app(FOREGROUND), fixture.app(CACHED)
    held = app.loads(LARGE)
    fixture.control.update_app(app.uid, False, BLOCKING_SDK - 1)
    fixture.settle()
    cached.asks(LARGE).receives(WAIT)
    held.receives(GRANT, UNLOAD)


@cases.case("update_keeps_priority", "NPU-PRI-012", "NPU-ACC-007")
def update_keeps_priority(context: CaseContext) -> None:
    """Another version of an app is judged anew as to direct access, and ought to keep its priority."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, VISIBLE)
        fixture.control.update_app(app.uid, True, 38, False)
        fixture.settle()
    with recording_hal(fixture) as hal:
        found = hal.table.get(app.uid)
        if found is None or found.priority != VISIBLE:
            context.warn_quality(f"an updated app has {found}, not the priority that it had")
        elif not found.has_direct_access:
            checks.fail("direct access of an updated app that declares the feature", "True", "False")


@cases.case("foreground_finishes_first", "NPU-PRI-005", "NPU-PRI-002")
def foreground_finishes_first(context: CaseContext) -> None:
    """Mobly foreground_app_finishes_first: the foreground app ought to be done first, though it started last."""
    fixture = ManagerFixture(context)
    background, foreground = fixture.app(CACHED), fixture.app(FOREGROUND)
    runs = [Run(fixture, background), Run(fixture, foreground)]
    for run in runs:
        run.finishes()
    checks.equal([run.succeeded for run in runs], [True, True], "inferences of a background and a foreground app")
    if runs[0].finished_as < runs[1].finished_as:
        context.warn_quality("a background app's inferences are done before those of a foreground app")


def _judge_first_table(hal: RecordingHal, apps: dict[ClientApp, Importance]) -> None:
    """A new HAL has got the whole table, and by the replacing call: what it had by itself would stay otherwise.

    It may be emptied first.
    """
    checks.that(bool(hal.pushes), "expected the table pushed to a new HAL, found nothing")
    call, configs = next((push for push in hal.pushes if push != ("set", ())), hal.pushes[0])
    checks.equal(call, "set", "the call that brings a new HAL its table")
    pushed = {config.uid: config.priority for config in configs}
    for app, importance in apps.items():
        checks.equal(pushed.get(app.uid), int(importance), f"priority of uid {app.uid} in the first table")
    _judge_fixed(hal)


def _judge_unknown(hal: RecordingHal, uid: int) -> None:
    """A uid without an app is no stronger than any, and has no right that an app would need a permission for."""
    checks.member(hal.priority(uid), (None, MAX_PRIORITY), f"priority of uid {uid}, which no app has, at the HAL")
    may_attribute = uid in hal.table and hal.table[uid].can_attribute_other_uid
    checks.equal(may_attribute, False, f"attribution of uid {uid}, which no app has")


def _judge_fixed(hal: RecordingHal) -> None:
    for uid in _STATIC:
        found = hal.table.get(uid)
        if found is None:
            checks.fail(f"config of uid {uid} at the HAL", "one", "none")
        checks.equal(found.priority, int(Importance.FOREGROUND), f"priority of uid {uid}")  # its bounds are free
        checks.equal(found.has_direct_access, True, f"direct access of uid {uid}")
        checks.equal(found.can_attribute_other_uid, True, f"attribution of uid {uid}")
    checks.equal(hal.wrong, [], "pushes that a HAL has to reject")
