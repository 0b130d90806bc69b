"""What the metrics say of decisions, loads and work of every kind: each record ought to name what really happened."""

from __future__ import annotations

import itertools

from npu_conformance.cts.lib.manager_client import CANCELLED, GRANT, PARKED, WAIT, install_only
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, ManagerFixture, switched
from npu_conformance.cts.lib.manager_observation import judge_atoms, metrics_reader
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import EndReason, Flag, Importance, ModelPriority, ModelSize, Policy, StartReason

cases = CaseGroup("cts.npu_manager.metrics", interface="manager", group=Group.MANAGER_QUERIES)

_ENDS = {
    EndReason.CANCELLED_USER: 3,
    EndReason.CANCELLED_SYSTEM: 4,
    EndReason.PAUSED: 5,
    EndReason.FAILED: 6,
    EndReason.COMPLETED: 7,
}
"""The numbers of the log, which has unspecified and the starts before them."""
_WORK = ("uid", "original_uid", "debug_pid", "job_priority", "effective_priority", "timestamp_ms", "device_number")


@cases.case("decisions", "NPU-OBS-006")
def decisions(context: CaseContext) -> None:
    """Each decision ought to be logged: load now as 1, the wait for an unload as 2, and not prioritised as 3."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    held = fixture.app(Importance.CACHED).loads(LARGE)
    wanted, weak = fixture.app(Importance.VISIBLE), fixture.app(Importance.GONE)
    take()
    waiting = wanted.asks(LARGE)
    waiting.receives(WAIT)
    weak.asks(LARGE).receives(PARKED)
    held.unload()
    found = [atom for atom in take() if atom.name == "NpuModelLoadPolicyResponded"]
    answers = [(wanted.uid, 2), (weak.uid, 3), (wanted.uid, 1)]
    judge_atoms(
        context, found, [("NpuModelLoadPolicyResponded", {"uid": uid, "status": status}) for uid, status in answers]
    )


@cases.case("displaced", "NPU-OBS-006", "NPU-POL-014")
def displaced(context: CaseContext) -> None:
    """A request that the manager cancels for a stronger one ought to be logged as cancelled like any other."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app = fixture.app(Importance.CACHED)
    pending = app.granted(LARGE)
    take()
    fixture.app(Importance.FOREGROUND).asks(LARGE)
    pending.receives(GRANT, CANCELLED)
    judge_atoms(context, list(take()), [("NpuModelLoadRequestCancelled", {"uid": app.uid, "id": 1})])


@cases.case("leaves_memory", "NPU-OBS-006", "NPU-LIF-019")
def leaves_memory(context: CaseContext) -> None:
    """That a model left memory ought to be logged, also where the log was read meanwhile, or where its app has died."""
    for dies in (False, True):
        fixture = ManagerFixture(context)
        take = metrics_reader(fixture)
        app = fixture.app(Importance.VISIBLE)
        model = app.loads(LARGE)
        take()
        if dies:
            app.dies()
        else:
            model.unload()
        judge_atoms(context, list(take()), [("NpuModelLoadStateChanged", {"uid": app.uid, "id": 1, "state": 2})])


@cases.case("priority_without_a_name", "NPU-OBS-006", "NPU-REQ-003")
def priority_without_a_name(context: CaseContext) -> None:
    """A priority between normal and background ought not to be logged as one of them."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app = fixture.app(Importance.VISIBLE)
    take()
    app.asks(LARGE, 500)
    logged = [atom.values.get("priority") for atom in take() if atom.name == "NpuModelLoadRequested"]
    if logged in ([1], [2]):
        context.warn_quality(f"a request of priority 500 was logged with priority {logged[0]}, which is another one's")


@cases.case("ungranted_load", "NPU-OBS-006", "NPU-LIF-026")
def ungranted_load(context: CaseContext) -> None:
    """A model that is loaded without a grant ought to be logged as loaded, and as unloaded when it leaves."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    fixture.app(Importance.FOREGROUND).loads(LARGE)
    app = fixture.app(Importance.CACHED)
    parked = app.asks(LARGE)
    parked.receives(PARKED)
    take()
    parked.load()
    parked.unload()
    found = [atom for atom in take() if atom.values.get("uid") == app.uid]
    judge_atoms(
        context, found, [("NpuModelLoadStateChanged", {"uid": app.uid, "id": 1, "state": state}) for state in (1, 2)]
    )


@cases.case("work_of_every_kind", "NPU-OBS-006")
def work_of_every_kind(context: CaseContext) -> None:
    """Work that is resumed, paused, cancelled or done for another uid ought to be logged as such, by its submitter."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app, other = fixture.app(Importance.VISIBLE), fixture.app(Importance.CACHED)
    with recording_hal(fixture) as hal:
        for start, original in ((StartReason.INITIAL, app.uid), (StartReason.RESUMED, other.uid)):
            for end, number in _ENDS.items():
                take()
                hal.works(app.uid, end, original, start)
                values = {"uid": app.uid, "original_uid": original}
                expected = [(1, 0), (2, start + 1), (3, number)]
                judge_atoms(
                    context,
                    list(take()),
                    [
                        ("NpuWorkEventOccurred", {**values, "type": type_, "reason": reason})
                        for type_, reason in expected
                    ],
                )


@cases.case("work_in_full", "NPU-OBS-006")
def work_in_full(context: CaseContext) -> None:
    """Work ought to be logged with all its numbers, of whatever size: priorities, time, device and pid."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    app, other = fixture.app(Importance.VISIBLE), fixture.app(Importance.CACHED)
    with recording_hal(fixture) as hal:
        take()
        for original in (None, other.uid):
            hal.works(app.uid, original=original)
        names = (
            "uid",
            "original_uid",
            "debug_pid",
            "job_priority",
            "effective_priority",
            "timestamp_ms",
            "device_number",
        )
        expected = [{name: getattr(work, name) for name in names} for work in hal.reported]
        judge_atoms(context, list(take()), [("NpuWorkEventOccurred", values) for values in expected])


@cases.case("equal_ids", "NPU-OBS-006", "NPU-REQ-009")
def equal_ids(context: CaseContext) -> None:
    """What two apps do under one id ought to be logged of both, also where they take turns."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    apps = [fixture.app(Importance.VISIBLE) for _ in range(2)]
    models = [app.loads(MEDIUM, priority) for app, priority in zip(apps, _priorities(context), strict=False)]
    for model in models:
        model.unload()
    found = list(take())
    for app in apps:
        states = [("NpuModelLoadStateChanged", {"uid": app.uid, "id": 1, "state": state}) for state in (1, 2)]
        judge_atoms(context, found, states)


@cases.case("every_priority", "NPU-OBS-006", "NPU-REQ-003", "NPU-REQ-004")
def every_priority(context: CaseContext) -> None:
    """Requests of each size and priority that has a name ought to be logged with its number."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    take = metrics_reader(fixture)
    app = fixture.app(Importance.VISIBLE)
    take()
    expected = []
    for size, (number, priority) in itertools.product(ModelSize, enumerate(_priorities(context), 1)):
        app.asks(size, priority)
        expected.append(("NpuModelLoadRequested", {"uid": app.uid, "size": size + 1, "priority": number}))
    judge_atoms(context, list(take()), expected)


def _priorities(context: CaseContext) -> tuple[int, int, int]:
    constants = context.manifest.constants
    opportunistic = constants.get("NPU_MODEL_PRIORITY_OPPORTUNISTIC", ModelPriority.OPPORTUNISTIC)
    return ModelPriority.NORMAL, ModelPriority.BACKGROUND, opportunistic


@cases.case("blocked_again", "NPU-OBS-007")
def blocked_again(context: CaseContext) -> None:
    """An app that is let through for a while, or installed again, ought to be logged as blocked once in a boot."""
    fixture = ManagerFixture(context)
    take = metrics_reader(fixture)
    take()
    app = fixture.app(Importance.VISIBLE, declares=False)
    with recording_hal(fixture) as hal:
        for enabled in (True, False, True):
            with switched(context, Flag.BLOCK_MISSING_FEATURE, enabled):
                hal.requested(app.uid)
                fixture.control.update_app(app.uid, not enabled, 37)
                fixture.settle()
                fixture.control.update_app(app.uid, False, 37)
                fixture.settle()
        fixture.clients.append(install_only(context, app.uid, declares=False))
        app.client.alive = False
        hal.requested(app.uid)
    blocked = [atom for atom in take() if atom.name == "NpuAppBlocked" and atom.values.get("uid") == app.uid]
    if len(blocked) > 1:
        context.warn_quality(f"an app that was blocked again and again was logged {len(blocked)} times")
