"""What packages and importances do over time: what is installed again begins anew, what is removed is let go.

The suite is the HAL below the manager, and so sees each push.
"""

from __future__ import annotations

from contextlib import suppress

from npu_conformance.cts.lib.manager_client import (
    COMPLETE,
    GRANT,
    PARKED,
    WAIT,
    Client,
    install_only,
    package_of,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, UNLOAD, ClientApp, ManagerFixture, switched
from npu_conformance.cts.lib.manager_needs import need_ranking_of
from npu_conformance.cts.lib.manager_observation import pushes_suspended, shell_of
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied, Unsupported
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    BLOCKING_SDK,
    DUMP_PERMISSION,
    MAX_PRIORITY,
    ROOT_UID,
    Flag,
    Importance,
    Policy,
)

cases = CaseGroup("cts.npu_manager.packages", interface="manager", group=Group.MANAGER_PRIORITIES)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_ANY_IMPORTANCE = (0, 1, 99, 101, 999, MAX_PRIORITY)


@cases.case("any_importance", "NPU-PRI-001", "NPU-PRI-002")
def any_importance(context: CaseContext) -> None:
    """An importance that Android has no name for is a priority like any other, 0 included, where it can be set."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        app = fixture.app(CACHED)
        for importance in _ANY_IMPORTANCE:
            with suppress(IllegalArgument):  # a control may know those alone that Android names
                app.moves(importance)
                hal.expect(app.uid, importance)


@cases.case("removed_app_is_let_go", "NPU-PRI-010", "NPU-PRI-005")
def removed_app_is_let_go(context: CaseContext) -> None:
    """What becomes of the importance of a removed app is pushed no more."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(VISIBLE), fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, VISIBLE)
        app.client.alive = False
        fixture.control.remove_app(app.uid)
        fixture.settle()
        before = len(hal.pushes)
        for importance in (FOREGROUND, CACHED):
            with suppress(IllegalArgument):  # it may be unknown to the control interface, too
                fixture.control.set_importance(app.uid, importance)
            fixture.settle()
        other.moves(CACHED)
        hal.expect(other.uid, CACHED)
        named = [config.uid for _, configs in hal.pushes[before:] for config in configs]
        checks.that(app.uid not in named, f"pushes behind the removal of uid {app.uid}: expected none of it")


@cases.case("installed_again", "NPU-PRI-009", "NPU-PRI-004")
def installed_again(context: CaseContext) -> None:
    """An app that is installed again, removed before or not, is at 1000 until its importance is known."""
    for is_removed in (True, False):
        fixture = ManagerFixture(context)
        app = fixture.app(FOREGROUND)
        fixture.settle()
        app.client.alive = False
        if is_removed:
            fixture.control.remove_app(app.uid)
        fixture.control.install_app(app.uid, package_of(app.uid), True, BLOCKING_SDK)
        with recording_hal(fixture) as hal:
            hal.expect(app.uid, MAX_PRIORITY)
            fixture.control.set_importance(app.uid, VISIBLE)
            hal.expect(app.uid, VISIBLE)


@cases.case("second_package", "NPU-PRI-002", "NPU-PRI-011", "NPU-PRI-012", "NPU-LIF-013")
def second_package(context: CaseContext) -> None:
    """Another package of an app's uid changes neither its importance nor its rights, and ends none of its requests."""
    fixture = ManagerFixture(context)
    app, weaker = fixture.app(FOREGROUND), fixture.app(CACHED)
    fixture.control.grant_permission(app.uid, ATTRIBUTION_PERMISSION, True)
    held, parked = app.loads(LARGE), weaker.asks(LARGE)
    parked.receives(PARKED)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, FOREGROUND)
        _install_beside(fixture, app)
        hal.expect(app.uid, FOREGROUND)
        has_right = hal.table[app.uid].can_attribute_other_uid
        checks.equal(has_right, True, "attribution of a uid that has got a second package")
    held.receives(GRANT)
    parked.receives(PARKED)
    held.unload()
    held.receives(GRANT, COMPLETE)
    parked.receives(PARKED, GRANT)


@cases.case("second_package_keeps_its_turn", "NPU-POL-017")
def second_package_keeps_its_turn(context: CaseContext) -> None:
    """Work that a uid has completed counts after another package of it was installed: its equal may displace it."""
    fixture = ManagerFixture(context)
    app, equal = fixture.app(VISIBLE), fixture.app(VISIBLE)
    held = app.loads(LARGE)
    with recording_hal(fixture) as hal:
        hal.works(app.uid)
        _install_beside(fixture, app)
        wanted = equal.asks(LARGE)
        wanted.receives(WAIT)
        held.receives(GRANT, UNLOAD)


def _install_beside(fixture: ManagerFixture, app: ClientApp) -> None:
    """Install another package of the app's uid; NotApplicable where the control cannot do that.

    A control that puts it in the place of the app takes the app's rights away: it dumps no more.
    """
    fixture.control.grant_permission(app.uid, DUMP_PERMISSION, True)
    try:
        fixture.control.install_app(app.uid, f"{package_of(app.uid)}.second", True, BLOCKING_SDK)
        is_beside = "Policy:" in app.client.manager.dump()
    except (Unsupported, IllegalArgument, SecurityDenied):
        is_beside = False
    if not is_beside:
        raise NotApplicable("no second package can be installed beside that of an app")


@cases.case("rights_of_an_earlier_app", "NPU-PRI-011", "NPU-PRI-009", "NPU-PRI-010", "NPU-PRI-004")
def rights_of_an_earlier_app(context: CaseContext) -> None:
    """An app that gets the uid of a removed one has none of its rights, be the HAL an old or a new one.

    What the HAL keeps of an app that is gone is a warning: AOSP's manager withdraws nothing. But the right to attribute
    work is the next app's only with a permission of its own (NPU-PRI-011), once something is pushed about it.
    """
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    fixture.control.grant_permission(app.uid, ATTRIBUTION_PERMISSION, True)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, VISIBLE)
        _remove(fixture, app, hal)
        fixture.clients.append(install_only(context, app.uid))
        fixture.control.set_importance(app.uid, CACHED)
        hal.expect(app.uid, CACHED)
        checks.equal(_may_attribute(hal, app.uid), False, f"attribution of an app with a removed one's uid {app.uid}")
    with recording_hal(fixture) as later:
        later.expect(app.uid, CACHED)
        checks.equal(_may_attribute(later, app.uid), False, "attribution of an app with a removed one's uid")


def _remove(fixture: ManagerFixture, app: ClientApp, hal: RecordingHal) -> None:
    """Remove an app; warn where the HAL ranks its uid as before, or lets it attribute work."""
    app.client.alive = False
    fixture.control.remove_app(app.uid)
    fixture.settle()
    if hal.priority(app.uid) not in (None, MAX_PRIORITY) or _may_attribute(hal, app.uid):
        fixture.context.warn_quality("the HAL keeps the config of a removed app (NPU-PRI-010, NPU-PRI-004)")


def _may_attribute(hal: RecordingHal, uid: int) -> bool:
    return uid in hal.table and hal.table[uid].can_attribute_other_uid


@cases.case("permission_of_an_earlier_install", "NPU-ACC-004", "NPU-ACC-005")
def permission_of_an_earlier_install(context: CaseContext) -> None:
    """An app that is installed again has no permission until it is granted anew: it sets no policy."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    fixture.control.install_app(app.uid, package_of(app.uid), True, BLOCKING_SDK)
    again = Client(context, app.uid)
    checks.raises(lambda: again.manager.set_policy(Policy.BUDGET, None), SecurityDenied, "setPolicy without permission")


@cases.case("work_of_a_removed_app", "NPU-PRI-004", "NPU-PRI-010")
def work_of_a_removed_app(context: CaseContext) -> None:
    """A uid whose app was removed is unknown, and works with priority 1000 at the most, whatever it was before."""
    fixture = ManagerFixture(context)
    app = fixture.app(FOREGROUND)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, FOREGROUND)
        app.client.alive = False
        fixture.control.remove_app(app.uid)
        fixture.settle()
        hal.table.pop(app.uid, None)  # a manager may let the HAL keep it, as AOSP's does
        hal.works(app.uid)
        checks.member(hal.priority(app.uid), (None, MAX_PRIORITY), f"priority of uid {app.uid}, whose app is removed")


@cases.case("blocked_together", "NPU-ACC-007", "NPU-ACC-010", "NPU-PRI-005")
def blocked_together(context: CaseContext) -> None:
    """Whether apps that declare nothing are denied direct access is one answer for all, each time the flag changes."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        apps = [fixture.app(VISIBLE, declares=False) for _ in range(3)]
        for app in apps:
            hal.requested(app.uid)
        for enabled in (True, False, True):
            with switched(context, Flag.BLOCK_MISSING_FEATURE, enabled):
                fixture.settle()
                configs = (hal.table.get(app.uid) for app in apps)
                found = {config is None or config.has_direct_access for config in configs}
                checks.equal(len(found), 1, f"different answers to alike apps, blocking enabled: {enabled}")


@cases.case("declaration_dropped", "NPU-PRI-014", "NPU-PRI-012")
def declaration_dropped(context: CaseContext) -> None:
    """In the public page's profile an update without the declaration takes the ranking, one with it gives it back."""
    need_ranking_of(context, "page")
    fixture = ManagerFixture(context)
    cached, app = fixture.app(CACHED), fixture.app(FOREGROUND)
    held = cached.loads(LARGE)
    fixture.control.update_app(app.uid, False, 36)
    with recording_hal(fixture) as hal:
        _is_not_ranked(fixture, app, hal.priority(app.uid))
        held.receives(GRANT)
        fixture.control.update_app(app.uid, True, 36)
        app.moves(VISIBLE)
        hal.expect(app.uid, VISIBLE)


@cases.case("update_is_pushed_first", "NPU-PRI-005", "NPU-PRI-014")
def update_is_pushed_first(context: CaseContext) -> None:
    """In the public page's profile the HAL hears of a lost declaration before the loading policy acts on it."""
    need_ranking_of(context, "page")
    fixture = ManagerFixture(context)
    app, weaker = fixture.app(FOREGROUND), fixture.app(CACHED)
    held, wanted = app.loads(LARGE), weaker.asks(LARGE)
    wanted.receives(PARKED)
    with recording_hal(fixture) as hal:
        hal.expect(app.uid, FOREGROUND)
        fixture.settle()
        received = sum(len(client.recorder.events) for client in fixture.clients)
        before = len(hal.pushes)
        fixture.control.update_app(app.uid, False, 36)
        held.is_outranked()
        wanted.receives(PARKED, WAIT)
        checks.equal(hal.received_at_push[before : before + 1], [received], "callbacks before the push of an update")


@cases.case("declares_again_while_it_waits", "NPU-PRI-012", "NPU-PRI-013", "NPU-PRI-014")
def declares_again_while_it_waits(context: CaseContext) -> None:
    """In the public page's profile an update that declares the feature again counts for what its app has parked."""
    need_ranking_of(context, "page")
    fixture = ManagerFixture(context)
    app, weaker = fixture.app(FOREGROUND), fixture.app(CACHED)
    held = weaker.loads(LARGE)
    fixture.control.update_app(app.uid, False, 36)
    fixture.settle()
    wanted = app.asks(LARGE)
    wanted.receives(PARKED)
    fixture.control.update_app(app.uid, True, 36)
    held.is_outranked()
    wanted.receives(PARKED, WAIT)


def _is_not_ranked(fixture: ManagerFixture, app: ClientApp, priority: int | None) -> None:
    checks.member(priority, (None, MAX_PRIORITY), f"priority of uid {app.uid}, which declares nothing any more")
    parked = app.asks(LARGE)
    parked.receives(PARKED)
    parked.cancel()
    fixture.settle()


@cases.case("known_before_it_works", "NPU-PRI-008", "NPU-PRI-002", "NPU-PRI-013")
def known_before_it_works(context: CaseContext) -> None:
    """In AOSP's profile an app that becomes known by its work has the importance that it has by then, for whoever asks.

    Work that another app does for it makes it known as well.
    """
    need_ranking_of(context, "aosp")
    fixture = ManagerFixture(context)
    service = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        for original in (False, True):
            app = fixture.app(CACHED, declares=False, target_sdk=36)
            app.moves(FOREGROUND)
            if original:
                hal.works(service.uid, original=app.uid)
            else:
                hal.works(app.uid)
            hal.expect(app.uid, FOREGROUND)


@cases.case("known_to_the_next_hal", "NPU-PRI-006", "NPU-PRI-008")
def known_to_the_next_hal(context: CaseContext) -> None:
    """In AOSP's profile a HAL that comes later has the config of an app that its work made known to an earlier one."""
    need_ranking_of(context, "aosp")
    fixture = ManagerFixture(context)
    app = fixture.app(FOREGROUND, declares=False, target_sdk=36)
    with recording_hal(fixture) as hal:
        hal.works(app.uid)
        hal.expect(app.uid, FOREGROUND)
    with recording_hal(fixture) as later:
        later.expect(app.uid, FOREGROUND)


@cases.case("changed_without_a_hal", "NPU-PRI-006", "NPU-PRI-009", "NPU-PRI-010", "NPU-PRI-011")
def changed_without_a_hal(context: CaseContext) -> None:
    """What is installed, removed or permitted while the HAL is dead is in the table of the next one."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as first:
        old, gone = fixture.app(VISIBLE), fixture.app(VISIBLE)
        first.expect(gone.uid, VISIBLE)
        first.dead = True
        fixture.control.kill_hal()
        new = _change(fixture, old, gone)
        with recording_hal(fixture) as second:
            _judge_change(second, old, new)
            checks.that(
                gone.uid not in second.table, f"table of a new HAL: expected none of uid {gone.uid}, which is removed"
            )


@cases.case("changed_while_suspended", "NPU-PRI-006", "NPU-PRI-009", "NPU-PRI-011", "NPU-OBS-005")
def changed_while_suspended(context: CaseContext) -> None:
    """What is installed, removed or permitted while root has suspended pushes is in the table that `enable` sends.

    Where that updates the HAL's, it ought to withdraw what the HAL has of a removed app: AOSP's manager does not.
    """
    fixture = ManagerFixture(context)
    root = shell_of(context, ROOT_UID)
    with recording_hal(fixture) as hal:
        old, gone = fixture.app(VISIBLE), fixture.app(VISIBLE)
        hal.expect(gone.uid, VISIBLE)
        with pushes_suspended(root):
            new = _change(fixture, old, gone)
            before = len(hal.pushes)
        _judge_change(hal, old, new)
        _judge_removed(context, hal, before, gone.uid)


def _change(fixture: ManagerFixture, old: ClientApp, gone: ClientApp) -> ClientApp:
    fixture.control.grant_permission(old.uid, ATTRIBUTION_PERMISSION, True)
    gone.client.alive = False
    fixture.control.remove_app(gone.uid)
    return fixture.app(CACHED)


def _judge_removed(context: CaseContext, hal: RecordingHal, before: int, uid: int) -> None:
    """Pushes from there on do not rank a removed uid, and what the HAL keeps of it is a warning."""
    named = [config for _, configs in hal.pushes[before:] for config in configs if config.uid == uid]
    checks.that(
        all(config.priority == MAX_PRIORITY for config in named), f"uid {uid}, which is removed, is pushed as {named}"
    )
    if uid in hal.table:
        context.warn_quality("the HAL keeps the config of a removed app (NPU-PRI-010, NPU-PRI-004)")


def _judge_change(hal: RecordingHal, old: ClientApp, new: ClientApp) -> None:
    hal.expect(new.uid, CACHED)
    hal.expect(old.uid, VISIBLE)
    checks.equal(hal.table[old.uid].can_attribute_other_uid, True, f"attribution of uid {old.uid}, which may by now")
