"""What the dump says of requests, the maximum and apps of other users of the device, whatever state they are in."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import PARKED, WAIT, package_of
from npu_conformance.cts.lib.manager_dump import ManagerDump
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, ManagerFixture
from npu_conformance.cts.lib.manager_needs import limited_requests, need_room_for
from npu_conformance.cts.lib.manager_observation import dump, names_the_request, state_of
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.types import BLOCKING_SDK, Importance, PolicyParameters, ThermalStatus

cases = CaseGroup("cts.npu_manager.dump", interface="manager", group=Group.MANAGER_QUERIES)

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
_MANY = 20
"""Models that fill a budget; as many requests of a quarter of its number fit into their room."""


@cases.case("another_user", "NPU-OBS-001")
def another_user(context: CaseContext) -> None:
    """An app of another user of the device is in the dump with the uid that it has there, as request and priority."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE, user=10)
    app.granted(LARGE)
    dumped = dump(fixture)
    names_the_request(dumped, app)
    _has_priority(dumped, app.uid, package_of(app.uid), VISIBLE)


def _has_priority(dumped: ManagerDump, uid: int, package: str, importance: Importance) -> None:
    found = [(line.package, line.priority) for line in dumped.priorities if line.uid == uid]
    checks.equal(found, [(package, importance)], f"package and priority of uid {uid} in the dump")


@cases.case("name_of_a_later_package", "NPU-OBS-001", "NPU-PRI-009")
def name_of_a_later_package(context: CaseContext) -> None:
    """A uid is in the dump with the package that it has now, not with one that was removed."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    _has_priority(dump(fixture), app.uid, package_of(app.uid), VISIBLE)
    app.client.alive = False
    fixture.control.remove_app(app.uid)
    fixture.control.install_app(app.uid, "android.npumanager.later", True, BLOCKING_SDK)
    fixture.control.set_importance(app.uid, CACHED)
    _has_priority(dump(fixture), app.uid, "android.npumanager.later", CACHED)


@cases.case("every_state", "NPU-OBS-001")
def every_state(context: CaseContext) -> None:
    """Every live request has a line of its own in the dump, also an asked one; waiting is not parked."""
    fixture = ManagerFixture(context)
    holder, waiter = fixture.app(CACHED), fixture.app(VISIBLE)
    first = [holder.loads(SMALL), holder.loads(SMALL)]
    loaded = dump(fixture).states_of(holder.uid)
    checks.equal(len(loaded), len(first), "lines of an app with two loaded models in the dump")
    waiter.asks(LARGE).receives(WAIT)
    asked = dump(fixture).states_of(holder.uid)
    checks.equal(len(asked), len(first), "lines of an app with two models that are asked to unload, in the dump")
    weak = fixture.app(Importance.GONE)
    weak.asks(LARGE).receives(PARKED)
    dumped = dump(fixture)
    waiting, parked = state_of(dumped, waiter), state_of(dumped, weak)
    checks.that(waiting != parked, "expected another state for a waiting than a parked")
    _differ([waiting, parked], [*loaded, *asked])


def _differ(without: list[str], loaded: list[str]) -> None:
    """What has a model looks like nothing that has none, asked to unload or not; the words are the manager's own."""
    checks.equal({*without} & {*loaded}, set(), "states in the dump that requests have both with and without a model")


@cases.case("maximum", "NPU-OBS-001")
def maximum(context: CaseContext) -> None:
    """The maximum in the dump is that of the policy in force, also while pressure leaves less of it."""
    for most in (6, 9):
        fixture = ManagerFixture(context, parameters=PolicyParameters(most))
        try:
            fixture.control.set_thermal_pressure(ThermalStatus.CRITICAL)
        except Unsupported as error:
            raise NotApplicable(f"pressure cannot be arranged: {error}") from None
        try:
            checks.equal(dump(fixture).maximum, most, "the maximum in the dump")
        finally:
            fixture.control.set_thermal_pressure(ThermalStatus.NONE)


@cases.case("as_many_as_there_are", "NPU-OBS-001", "NPU-LIF-009")
def as_many_as_there_are(context: CaseContext) -> None:
    """However many requests live, each has its line: what waits or is parked looks like none that is loaded."""
    need_room_for(context, _MANY)
    fixture = ManagerFixture(context, parameters=PolicyParameters(_MANY))
    holder, waiter, weak = fixture.app(CACHED), fixture.app(VISIBLE), fixture.app(Importance.GONE)
    with limited_requests(), checks.about("NPU-LIF-022", "NPU-POL-029"):
        for _ in range(_MANY):
            holder.loads(SMALL)
    loaded = dump(fixture).states_of(holder.uid)
    checks.equal(len(loaded), _MANY, "lines of an app with many loaded models in the dump")
    for _ in range(_MANY // 4):
        waiter.asks(LARGE).receives(WAIT)
        weak.asks(LARGE).receives(PARKED)
    dumped = dump(fixture)
    asked = dumped.states_of(holder.uid)
    checks.equal(len(asked), _MANY, "lines of an app with many models, some of them asked to unload, in the dump")
    others = [*dumped.states_of(waiter.uid), *dumped.states_of(weak.uid)]
    checks.equal(len(others), 2 * (_MANY // 4), "lines of requests that wait or are parked in the dump")
    _differ(others, [*loaded, *asked])
