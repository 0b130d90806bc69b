"""Unload requests of every cause: in the form that is configured, and with a defined reason where they have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npu_conformance.cts.lib.manager_client import CANCELLED, GRANT, PARKED, Notification
from npu_conformance.cts.lib.manager_fixture import LARGE, UNLOAD, ClientApp, ManagerFixture, RequestedModel, switched
from npu_conformance.cts.lib.manager_pressure import heat, pressed
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Flag, Importance, Policy, ThermalStatus

cases = CaseGroup("cts.npu_manager.reasons", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
Cause = Callable[[ManagerFixture, RecordingHal], RequestedModel]
"""Brings it about that a model is asked to unload, and returns that."""


def _stronger_request(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    held = fixture.app(CACHED).loads(LARGE)
    fixture.app(FOREGROUND).asks(LARGE)
    return held


def _importance(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    held, _, riser = _held_beside_parked(fixture)
    riser.moves(FOREGROUND)
    return held


def _rotation(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    held, holder, _ = _held_beside_parked(fixture)
    hal.works(holder.uid)
    return held


def _new_policy(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    held = fixture.app(VISIBLE).loads(LARGE)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    return held


def _heat(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    held = fixture.app(VISIBLE).loads(LARGE)
    with pressed(fixture, heat, ThermalStatus.CRITICAL):
        fixture.wait(lambda: UNLOAD in held.received)
    return held


def _no_grant(fixture: ManagerFixture, hal: RecordingHal) -> RequestedModel:
    _, _, other = _held_beside_parked(fixture)
    parked = other.asks(LARGE)
    parked.receives(PARKED)
    parked.load()
    return parked


def _held_beside_parked(fixture: ManagerFixture) -> tuple[RequestedModel, ClientApp, ClientApp]:
    """A loaded model with its app, and an equal app with a parked request."""
    holder, other = fixture.app(VISIBLE), fixture.app(VISIBLE)
    held, parked = holder.loads(LARGE), other.asks(LARGE)
    parked.receives(PARKED)
    return held, holder, other


_DISPLACED: tuple[Sequence[Notification], ...] = ((GRANT, UNLOAD),)
_REPLACED = ((GRANT,), (GRANT, UNLOAD), (GRANT, CANCELLED), (GRANT, UNLOAD, CANCELLED))
_CAUSES: dict[str, tuple[Cause, tuple[Sequence[Notification], ...]]] = {
    "stronger_request": (_stronger_request, _DISPLACED),
    "importance": (_importance, _DISPLACED),
    "rotation": (_rotation, _DISPLACED),
    "new_policy": (_new_policy, _REPLACED),
    "heat": (_heat, _DISPLACED),
    "no_grant": (_no_grant, ((PARKED, UNLOAD),)),
}
"""What causes unload requests, and what the client of the model may receive by then."""


def _declare(name: str, cause: Cause, allowed: tuple[Sequence[Notification], ...]) -> None:
    @cases.case(name, "NPU-LIF-018", "NPU-LIF-016")
    def one_form(context: CaseContext) -> None:
        """The flag decides at each unload request whether it may have a reason; a reason is a defined one."""
        for enabled in (True, False, True):
            with switched(context, Flag.UNLOAD_REASON, enabled):
                fixture = ManagerFixture(context)
                with recording_hal(fixture) as hal:
                    model = cause(fixture, hal)
                    model.receives_one_of(*allowed)
                    _judge_form(context, model, enabled=enabled)


def _judge_form(context: CaseContext, model: RequestedModel, *, enabled: bool) -> None:
    """See that all that came is in one form, and warn where it is not the one that the flag says."""
    has_reason = {event.status is not None for event in model.events if event.kind == "unload"}
    checks.that(len(has_reason) < 2, f"{model.name}: asked to unload with a reason and without one")
    if True in has_reason and not enabled:
        context.warn_quality(f"{model.name}: asked to unload with a reason, though the flag is off")


for _name, (_cause, _allowed) in _CAUSES.items():
    _declare(_name, _cause, _allowed)
