"""Who may use the manager, and who is denied the NPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from npu_conformance.cts.lib.manager_client import (
    ASSISTANT,
    CAMERA,
    COMPLETE,
    GRANT,
    Client,
    control,
    install,
    is_denied,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, UIDS_OF_A_USER, ClientApp, ManagerFixture, switched
from npu_conformance.cts.lib.manager_observation import pushes_suspended, shell_of
from npu_conformance.cts.lib.manager_work import inferences_succeed
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import SecurityDenied, Unsupported
from npu_conformance.specs.npu.manager import ManagerControl
from npu_conformance.specs.npu.types import (
    PERMISSION,
    ROOT_UID,
    SERVICE,
    Flag,
    Importance,
    ModelLoadRequest,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.access", interface="manager", group=Group.MANAGER_PRIORITIES)

_NATIVE = 10_298
"""A uid of no app."""


@cases.case("set_policy_without_permission", "NPU-ACC-004", group=Group.MANAGER_VALIDATION)
def set_policy_without_permission(context: CaseContext) -> None:
    """setPolicy without the permission is a security error and ends no request."""
    camera, assistant = install(context, CAMERA), install(context, ASSISTANT, permitted=False)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    for policy in (*Policy, 99, -1):
        _denied(assistant, policy)
        _denied(assistant, policy, PolicyParameters(0, {"0": -1}))
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@cases.case("set_policy_by_strangers", "NPU-ACC-004", group=Group.MANAGER_VALIDATION)
def set_policy_by_strangers(context: CaseContext) -> None:
    """A uid without an app sets no policy, though the app of that number in the first user of the device may."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request)
    for uid in (_NATIVE, CAMERA + UIDS_OF_A_USER, CAMERA + 10 * UIDS_OF_A_USER):
        _denied(Client(context, uid), Policy.TURN_TAKING)
    camera.expect(1, GRANT)


@cases.case("set_policy_when_withdrawn", "NPU-ACC-004", group=Group.MANAGER_VALIDATION)
def set_policy_when_withdrawn(context: CaseContext) -> None:
    """The permission counts as it is at each call: withdrawn it allows nothing more, and granted again it does."""
    camera = install(context, CAMERA)
    for _ in range(2):
        with _without_permission(control(context), CAMERA):
            _denied(camera, Policy.BUDGET)
        camera.manager.set_policy(Policy.STATUS_QUO, None)


@cases.case("shell_without_permission", "NPU-ACC-004", "NPU-OBS-003", group=Group.MANAGER_VALIDATION)
def shell_without_permission(context: CaseContext) -> None:
    """The shell command sets no policy for a caller without the permission, and does not say that it has."""
    fixture = ManagerFixture(context)
    app = fixture.app()
    held, shell = app.loads(LARGE), shell_of(context, app.uid)
    with _without_permission(fixture.control, app.uid):
        for command in ("set-status-quo-policy", "set-turn-taking-policy", "set-budget-policy"):
            try:
                code = shell(command).exit_code
            except SecurityDenied:
                continue
            what = f"cmd npu {command} without the permission"
            checks.that(code != 0, f"{what}: expected an exit code other than 0, found 0")
    held.receives(GRANT)


@cases.case("calls_without_permission", "NPU-ACC-005", group=Group.MANAGER_VALIDATION)
def calls_without_permission(context: CaseContext) -> None:
    """Requesting, cancelling and notifying without the permission ought to be security errors without effect."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    calls: dict[str, Callable[[], None]] = {
        "requestCanLoadModel": lambda: camera.request(ModelLoadRequest(2)),
        "cancelModelLoad": lambda: camera.manager.cancel_model_load(request),
        "notifyModelLoaded": lambda: listener.notify_model_loaded(request),
        "notifyModelUnloaded": lambda: listener.notify_model_unloaded(request),
    }
    with _without_permission(control(context), CAMERA):
        permissive = [name for name, call in calls.items() if not is_denied(call)]
    camera.flush()
    if permissive:
        context.warn_quality(f"callable without {PERMISSION}: {', '.join(permissive)}")
    elif (without_repetitions(camera.recorder.of(1)), camera.recorder.of(2)) != ([GRANT], []):
        context.warn_quality(f"calls rejected without {PERMISSION} had an effect all the same")


@cases.case("rejected_caller_is_not_ranked", "NPU-ACC-005", group=Group.MANAGER_VALIDATION)
def rejected_caller_is_not_ranked(context: CaseContext) -> None:
    """A call that is rejected for lack of the permission ought not to give its uid a config at the HAL."""
    fixture = ManagerFixture(context)
    app = fixture.app(Importance.VISIBLE, declares=False, target_sdk=36)
    request = ModelLoadRequest(1)
    with recording_hal(fixture) as hal:
        before = hal.table.get(app.uid)
        calls = (app.client.request, app.client.manager.cancel_model_load)
        with _without_permission(fixture.control, app.uid):
            denied = [is_denied(partial(call, request)) for call in calls]
        fixture.settle()
        if all(denied) and (found := hal.table.get(app.uid)) != before:
            context.warn_quality(f"a rejected caller was given {found}; before its calls it had {before}")


@contextmanager
def _without_permission(manager_control: ManagerControl, uid: int) -> Iterator[None]:
    """The app lacks the permission meanwhile, and has it again behind this, whatever happens."""
    manager_control.grant_permission(uid, PERMISSION, False)
    try:
        yield
    finally:
        manager_control.grant_permission(uid, PERMISSION, True)


def _denied(client: Client, policy: int, parameters: PolicyParameters | None = None) -> None:
    what = f"setPolicy({policy}, {parameters}) without the permission"
    checks.raises(lambda: client.manager.set_policy(policy, parameters), SecurityDenied, what)


@cases.case("service_with_feature", "NPU-ACC-001", "NPU-ACC-006", group=Group.MANAGER_QUERIES)
def service_with_feature(context: CaseContext) -> None:
    """CTS getService: with the feature and the flag the service `npu` is there, and another name is not it."""
    manager_control = control(context)
    found = _service(context)
    checks.that(found is not None, f"expected a service {SERVICE!r}, found none")
    checks.equal(manager_control.get_system_service("npu2"), None, "the service 'npu2'")


@cases.case("no_service_without_feature", "NPU-ACC-002", "NPU-ACC-001", group=Group.MANAGER_QUERIES)
def no_service_without_feature(context: CaseContext) -> None:
    """CTS getService_noFeature: None on a device that does not declare android.hardware.npu."""
    manager_control = control(context)
    _service(context)
    try:
        manager_control.set_device_feature(False)
    except Unsupported as error:
        raise NotApplicable(f"the device's feature cannot be taken away: {error}") from None
    try:
        checks.equal(_service(context), None, f"the service {SERVICE!r} without the feature")
    finally:
        manager_control.set_device_feature(True)
    checks.that(_service(context) is not None, f"expected a service {SERVICE!r} with the feature again, found none")


@cases.case("no_service_when_disabled", "NPU-ACC-003", group=Group.MANAGER_QUERIES)
def no_service_when_disabled(context: CaseContext) -> None:
    """CTS getService_flagDisabled: None with the feature, but without the flag."""
    _service(context)
    with switched(context, Flag.ENABLED, False):
        checks.equal(_service(context), None, f"the service {SERVICE!r} with the flag off")
    checks.that(_service(context) is not None, f"expected a service {SERVICE!r} with the flag on again, found none")


@cases.case("declaring_apps", "NPU-ACC-008", "NPU-ACC-007")
def declaring_apps(context: CaseContext) -> None:
    """An app that declares the feature has direct access, required or not, for whatever API it was made."""
    fixture = ManagerFixture(context)
    apps = [fixture.app(Importance.VISIBLE, target_sdk=target) for target in (36, 37, 38)]
    for app, required in zip(apps, (False, False, True), strict=True):
        fixture.control.update_app(app.uid, True, 37, required)
    with switched(context, Flag.BLOCK_MISSING_FEATURE, True), recording_hal(fixture) as hal:
        for app in apps:
            checks.equal(_direct_access(hal, app), True, f"direct access of uid {app.uid}, which declares the feature")


@cases.case("earlier_apps", "NPU-ACC-009")
def earlier_apps(context: CaseContext) -> None:
    """An app for an earlier API that declares nothing keeps direct access, and may ask for models.

    So does one that became such an app by an update, and had direct access before.
    """
    fixture = ManagerFixture(context)
    app = fixture.app(Importance.VISIBLE, declares=False, target_sdk=36)
    updated = fixture.app(Importance.VISIBLE)
    with switched(context, Flag.BLOCK_MISSING_FEATURE, True), recording_hal(fixture) as hal:
        hal.requested(updated.uid)
        fixture.control.update_app(updated.uid, False, 36)
        for each in (app, updated):
            hal.requested(each.uid)
            checks.equal(_direct_access(hal, each), True, f"direct access of uid {each.uid}, made for API 36")
        app.granted()


@cases.case("undeclared_apps", "NPU-ACC-010", "NPU-ACC-007")
def undeclared_apps(context: CaseContext) -> None:
    """An undeclared app for API 37 may be denied direct access, when blocking is enabled; never its use of the API."""
    fixture = ManagerFixture(context)
    app = fixture.app(Importance.VISIBLE, declares=False, target_sdk=37)
    later = fixture.app(Importance.VISIBLE, declares=False, target_sdk=38)
    with recording_hal(fixture) as hal:
        with switched(context, Flag.BLOCK_MISSING_FEATURE, True):
            for each in (app, later):
                hal.requested(each.uid)
            access = _direct_access(hal, app)
            context.note("blocks_undeclared_apps", not access)
            if _direct_access(hal, app) != _direct_access(hal, later):
                context.warn_quality("blocking does not begin at API 37")
            app.granted()
        with switched(context, Flag.BLOCK_MISSING_FEATURE, False):
            app.moves(Importance.CACHED)
            checks.equal(_direct_access(hal, app), True, f"direct access of uid {app.uid} with blocking disabled")
        with switched(context, Flag.BLOCK_MISSING_FEATURE, True):
            app.moves(Importance.VISIBLE)
            if _direct_access(hal, app) != access:
                context.warn_quality("blocking that was disabled for a while has another effect than before")


@cases.case("switched_while_suspended", "NPU-ACC-007", "NPU-OBS-005")
def switched_while_suspended(context: CaseContext) -> None:
    """Blocking that is switched off while root has suspended pushes is off in the table that `enable` sends."""
    fixture, root = ManagerFixture(context), shell_of(context, ROOT_UID)
    app = fixture.app(Importance.VISIBLE, declares=False, target_sdk=38)
    with recording_hal(fixture) as hal, switched(context, Flag.BLOCK_MISSING_FEATURE, True):
        hal.requested(app.uid)
        with pushes_suspended(root):
            fixture.control.set_flag(Flag.BLOCK_MISSING_FEATURE, False)
        fixture.wait(lambda: _direct_access(hal, app))
        checks.equal(_direct_access(hal, app), True, f"direct access of uid {app.uid}, which blocking denied before")


@cases.case("updated_target", "NPU-PRI-012")
def updated_target(context: CaseContext) -> None:
    """An update of an undeclared app to an earlier API ought to give direct access back, and one to API 37 to count."""
    fixture = ManagerFixture(context)
    app, always = (fixture.app(Importance.VISIBLE, declares=False, target_sdk=37) for _ in range(2))
    with switched(context, Flag.BLOCK_MISSING_FEATURE, True):
        _access_after_updates(fixture, app, always)
        fixture.control.update_app(app.uid, False, 36)
        first, _ = _access_after_updates(fixture, app, always)
        if not first:
            context.warn_quality("an app updated from API 37 to 36 has no direct access, which ought to be judged anew")
        fixture.control.update_app(app.uid, False, 37)
        updated, other = _access_after_updates(fixture, app, always)
        if updated != other:
            context.warn_quality("an app updated from API 36 to 37 has other access than one that was made for 37")


def _access_after_updates(fixture: ManagerFixture, *apps: ClientApp) -> list[bool]:
    """Direct access of apps that work, as the table for a new HAL has it."""
    fixture.settle()
    with recording_hal(fixture) as hal:
        found = [_direct_access(hal, app) for app in apps]
        for app in apps:
            hal.requested(app.uid)
    return found


@cases.case("undeclared_app_at_work", "NPU-ACC-007", "NPU-ACC-009")
def undeclared_app_at_work(context: CaseContext) -> None:
    """Mobly cant_access_npu_without_hardware_feature: a declaring app's inferences succeed, a blocked app's do not."""
    fixture = ManagerFixture(context)
    declaring = fixture.app(Importance.FOREGROUND)
    undeclared = fixture.app(Importance.FOREGROUND, declares=False, target_sdk=37)
    with recording_hal(fixture) as hal:
        hal.requested(undeclared.uid)
        blocked = not _direct_access(hal, undeclared)
    checks.equal(inferences_succeed(fixture, declaring), True, "inferences of an app that declares the feature")
    what = "inferences of an undeclared app that is " + ("blocked" if blocked else "not blocked")
    checks.equal(inferences_succeed(fixture, undeclared), not blocked, what)


def _direct_access(hal: RecordingHal, app: ClientApp) -> bool:
    """A uid without a config has direct access (NPU-HAL-007)."""
    config = hal.table.get(app.uid)
    return config is None or config.has_direct_access


def _service(context: CaseContext) -> object:
    try:
        return control(context).get_system_service(SERVICE)
    except Unsupported as error:
        raise NotApplicable(f"there is no lookup of services: {error}") from None
