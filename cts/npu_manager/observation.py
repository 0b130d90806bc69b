"""What a person sees of the manager: dumpsys, and the metrics. The shell command has the module `shell`."""

from __future__ import annotations

import itertools

from npu_conformance.cts.lib.manager_client import PARKED, Client, install_only, package_of
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_observation import (
    dump,
    judge_atoms,
    metrics_reader,
    names_the_request,
    state_of,
)
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    DUMP_PERMISSION,
    MAX_PRIORITY,
    ROOT_UID,
    SYSTEM_UID,
    EndReason,
    Importance,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.observation", interface="manager", group=Group.MANAGER_QUERIES)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_LAST_SYSTEM_UID = 10_000
_FRESH_UIDS = itertools.count(10_300)
"""Of apps that were not blocked since the device was started."""


@cases.case("dump_names_policy", "NPU-OBS-001", "NPU-POL-002")
def dump_names_policy(context: CaseContext) -> None:
    """The dump names the policy; with the gating ones also the maximum and each request with its uid and package."""
    for policy in Policy:
        fixture = ManagerFixture(context, policy, PolicyParameters(6) if policy is Policy.BUDGET else None)
        app = fixture.app(VISIBLE)
        app.granted(LARGE)
        dumped = dump(fixture)
        checks.equal(dumped.policy, policy, "the policy in the dump")
        if policy is not Policy.STATUS_QUO:
            checks.equal(dumped.maximum, 6 if policy is Policy.BUDGET else 1, "the maximum in the dump")
            names_the_request(dumped, app)


@cases.case("dump_of_requests", "NPU-OBS-001", "NPU-LIF-009")
def dump_of_requests(context: CaseContext) -> None:
    """The dump distinguishes a loaded request from a granted and a parked one, and forgets what is unloaded."""
    fixture = ManagerFixture(context)
    app, weak = fixture.app(FOREGROUND), fixture.app(CACHED)
    held = app.granted(MEDIUM)
    before = state_of(dump(fixture), app)
    held.load()
    after = state_of(dump(fixture), app)
    checks.that(before != after, f"expected another state once the model is loaded, found {after} as before")
    weak.asks(LARGE).receives(PARKED)
    parked = state_of(dump(fixture), weak)
    checks.that(parked not in (before, after), f"expected a state of its own for a parked request, found {parked}")
    held.unload()
    checks.equal(dump(fixture).states_of(app.uid), [], "states of a request that is unloaded")


@cases.case("dump_of_priorities", "NPU-OBS-001", "NPU-PRI-002")
def dump_of_priorities(context: CaseContext) -> None:
    """The priority table ascends, has each app with its package, and says what the HAL was sent."""
    fixture = ManagerFixture(context)
    apps = {fixture.app(importance): importance for importance in (CACHED, FOREGROUND, VISIBLE)}
    undeclared = fixture.app(VISIBLE, declares=False)
    with recording_hal(fixture) as hal:
        hal.requested(undeclared.uid)
        lines = [(line.uid, line.package, line.priority or 0) for line in dump(fixture).priorities]
        priorities = [priority for _, _, priority in lines]
        checks.equal(priorities, sorted(priorities), "order of the priorities")
        for app, importance in apps.items():
            checks.that(
                (app.uid, package_of(app.uid), importance) in lines,
                f"expected '{app.uid} [{package_of(app.uid)}] {importance}' in the dump, found {lines}",
            )
        dumped = {uid: priority for uid, _, priority in lines}
        at_hal = {uid: hal.counted(uid) for uid in {*dumped, *hal.table}}
        checks.equal(dumped, at_hal, "the dump's table against the HAL's")


@cases.case("dump_of_uids_without_apps", "NPU-OBS-001")
def dump_of_uids_without_apps(context: CaseContext) -> None:
    """The priority table has uids that no app has as well, however it calls them; who is unknown counts 1000."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        for uid in (_LAST_SYSTEM_UID, _LAST_SYSTEM_UID + 1):
            hal.requested(uid)
        dumped = {line.uid: line.priority for line in dump(fixture).priorities}
        expected = dict.fromkeys((ROOT_UID, SYSTEM_UID), FOREGROUND) | {uid: hal.counted(uid) for uid in hal.table}
        found = {uid: dumped.get(uid, MAX_PRIORITY) for uid in expected}
        checks.equal(found, expected, "the priorities of uids in the dump")


@cases.case("dump_without_permission", "NPU-OBS-002")
def dump_without_permission(context: CaseContext) -> None:
    """An app that may not dump gets a rejection that names the service, and sees nothing of other apps."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    app.granted(LARGE)
    try:
        text = app.client.manager.dump()
    except SecurityDenied as denial:
        text = str(denial)
    checks.that("npu" in text.lower(), f"expected a rejection that names the service, found {text!r}")
    checks.that("Policy:" not in text and "Priorities:" not in text, f"expected a rejection, found {text!r}")


@cases.case("dump_right_follows", "NPU-OBS-002", "NPU-ACC-005")
def dump_right_follows(context: CaseContext) -> None:
    """The right to dump counts as it is at each call: granted, withdrawn, granted again, gone with a new install."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    for granted in (True, False, True, False):
        fixture.control.grant_permission(app.uid, DUMP_PERMISSION, granted)
        checks.equal(_may_dump(app.client), granted, f"whether an app may dump, its permission granted: {granted}")
    fixture.control.grant_permission(app.uid, DUMP_PERMISSION, True)
    fixture.control.install_app(app.uid, package_of(app.uid), True, BLOCKING_SDK)
    checks.equal(_may_dump(Client(context, app.uid)), False, "whether an app may dump that was installed again")


def _may_dump(client: Client) -> bool:
    try:
        return "Priorities:" in client.manager.dump()
    except SecurityDenied:
        return False


@cases.case("requests_logged", "NPU-OBS-006")
def requests_logged(context: CaseContext) -> None:
    """Requests, decisions, cancellations and changes of loading ought to be logged, enums one higher than the API's."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app = fixture.app(VISIBLE)
    take()
    held, parked = app.loads(LARGE), app.asks(MEDIUM, 1000)
    parked.receives(PARKED)
    parked.cancel()
    held.unload()
    uid = app.uid
    judge_atoms(
        context,
        [atom for atom in take() if atom.values.get("uid") == uid],
        [
            ("NpuModelLoadRequested", {"uid": uid, "id": 1, "size": 3, "priority": 1}),
            ("NpuModelLoadPolicyResponded", {"uid": uid, "id": 1, "status": 1}),
            ("NpuModelLoadStateChanged", {"uid": uid, "id": 1, "state": 1}),
            ("NpuModelLoadRequested", {"uid": uid, "id": 2, "size": 2, "priority": 2}),
            ("NpuModelLoadPolicyResponded", {"uid": uid, "id": 2, "status": 3}),
            ("NpuModelLoadRequestCancelled", {"uid": uid, "id": 2}),
            ("NpuModelLoadStateChanged", {"uid": uid, "id": 1, "state": 2}),
        ],
    )


@cases.case("loading_logged_under_status_quo", "NPU-OBS-006", "NPU-LIF-015")
def loading_logged_under_status_quo(context: CaseContext) -> None:
    """Changes of loading ought to be logged also where no policy needs to know, and once however often reported."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    take = metrics_reader(fixture)
    held = fixture.app(VISIBLE).granted(LARGE)
    take()
    held.load()
    held.load()
    held.unload()
    states = [atom.values.get("state") for atom in take() if atom.name == "NpuModelLoadStateChanged"]
    if states != [1, 2]:
        context.warn_quality(f"expected the states 1 and 2 logged of a model loaded and unloaded, found {states}")


@cases.case("work_logged", "NPU-OBS-006")
def work_logged(context: CaseContext) -> None:
    """Each work event ought to be logged with its type, and how it started or ended."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app = fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        take()
        hal.works(app.uid, EndReason.FAILED)
        atoms = [atom for atom in take() if atom.name == "NpuWorkEventOccurred"]
    expected = [{"type": 1, "reason": 0}, {"type": 2, "reason": 1}, {"type": 3, "reason": 6}]
    judge_atoms(context, atoms, [("NpuWorkEventOccurred", {"uid": app.uid, **each}) for each in expected])


@cases.case("blocked_app_logged_once", "NPU-OBS-007")
def blocked_app_logged_once(context: CaseContext) -> None:
    """An app that is denied the NPU for lack of a declaration ought to be logged once."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    take()
    client = install_only(context, next(_FRESH_UIDS), declares=False)
    fixture.clients.append(client)
    app = ClientApp(fixture, client)
    with recording_hal(fixture) as hal:
        for _ in range(2):
            hal.requested(app.uid)
            app.moves(CACHED)
        config = hal.table.get(app.uid)
        if config is None or config.has_direct_access:
            raise NotApplicable("the manager blocks no app")
    blocked = [atom.values for atom in take() if atom.name == "NpuAppBlocked" and atom.values.get("uid") == app.uid]
    if len(blocked) > 1:
        context.warn_quality(f"a blocked app was logged {len(blocked)} times")
    elif not blocked:
        context.warn_quality("a blocked app was not logged")
