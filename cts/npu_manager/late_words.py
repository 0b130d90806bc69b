"""What a client says about a request that has ended, by whatever way: it frees no room again, and takes none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.manager_client import COMPLETE, GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, Policy

cases = CaseGroup("cts.npu_manager.late_words", interface="manager", group=Group.MANAGER_REQUESTS)

_FOREGROUND, _VISIBLE, _CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_SECOND_NS = 1_000_000_000
_WORDS = (RequestedModel.unload, RequestedModel.load, RequestedModel.cancel)
_End = Callable[[ManagerFixture], tuple[RequestedModel, RequestedModel]]
"""How a cached app's request ends. It returns that request, and the foreground's, which has all of the room now."""


@cases.case("overdue", "NPU-LIF-027", "NPU-LIF-014", "NPU-LIF-015", "NPU-POL-010")
def overdue(context: CaseContext) -> None:
    """A client that answers its unload request when others have the room by then changes nothing for them."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock nobody waits for a client that never answers")
    _count_nothing(context, _overdue)


@cases.case("policy_replaced", "NPU-LIF-022", "NPU-LIF-014", "NPU-POL-010")
def policy_replaced(context: CaseContext) -> None:
    """Words about a request of the policy before, loaded or only granted, count nothing under the new one."""
    for policy in (Policy.BUDGET, Policy.TURN_TAKING):
        _count_nothing(context, partial(_replaced, policy, is_loaded=True))
        _count_nothing(context, partial(_replaced, policy, is_loaded=False))


@cases.case("cancelled", "NPU-LIF-012", "NPU-LIF-011", "NPU-LIF-014", "NPU-POL-010")
def cancelled(context: CaseContext) -> None:
    """Words about a request that its client has cancelled, loaded or only granted, count nothing."""
    _count_nothing(context, partial(_cancelled, is_loaded=True))
    _count_nothing(context, partial(_cancelled, is_loaded=False))


@cases.case("taken_back", "NPU-POL-014", "NPU-LIF-014", "NPU-POL-010")
def taken_back(context: CaseContext) -> None:
    """Words about a grant that went to a stronger request before its model was loaded count nothing."""
    _count_nothing(context, _taken_back)


@cases.case("unloaded", "NPU-LIF-010", "NPU-LIF-014", "NPU-POL-010")
def unloaded(context: CaseContext) -> None:
    """Words about a model that was unloaded, by itself or because it was asked to, count nothing."""
    _count_nothing(context, _unloaded)
    _count_nothing(context, _unloaded_when_asked)


def _overdue(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    with fixture.unload_timeout(60 * _SECOND_NS):
        held, wanted = fixture.app(_CACHED).loads(LARGE), fixture.app(_FOREGROUND).asks(LARGE)
        held.receives(GRANT, UNLOAD)
        fixture.control.advance_clock(61 * _SECOND_NS)
        wanted.receives(WAIT, GRANT)
    return held, wanted


def _replaced(policy: Policy, fixture: ManagerFixture, *, is_loaded: bool) -> tuple[RequestedModel, RequestedModel]:
    held = _held(fixture, is_loaded=is_loaded)
    fixture.settings.manager.set_policy(policy, None)
    fixture.note(f"the policy is set to {policy.name}")
    return held, fixture.app(_FOREGROUND).asks(LARGE)


def _cancelled(fixture: ManagerFixture, *, is_loaded: bool) -> tuple[RequestedModel, RequestedModel]:
    held = _held(fixture, is_loaded=is_loaded)
    held.cancel()
    held.is_cancelled()
    return held, fixture.app(_FOREGROUND).asks(LARGE)


def _taken_back(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    held, wanted = _held(fixture, is_loaded=False), fixture.app(_FOREGROUND).asks(LARGE)
    held.is_cancelled()
    return held, wanted


def _unloaded(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    held = _held(fixture, is_loaded=True)
    held.unload()
    held.receives(GRANT, COMPLETE)
    return held, fixture.app(_FOREGROUND).asks(LARGE)


def _unloaded_when_asked(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    held, wanted = _held(fixture, is_loaded=True), fixture.app(_FOREGROUND).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    return held, wanted


def _held(fixture: ManagerFixture, *, is_loaded: bool) -> RequestedModel:
    app = fixture.app(_CACHED)
    return app.loads(LARGE) if is_loaded else app.granted(LARGE)


def _count_nothing(context: CaseContext, let_end: _End) -> None:
    """Say each word twice about a request that has ended, each in a history of its own."""
    for say in _WORDS:
        fixture = ManagerFixture(context)
        held, wanted = let_end(fixture)
        wanted.receives_one_of([GRANT], [WAIT, GRANT])
        wanted.load()
        with checks.about("NPU-LIF-014", "NPU-POL-010"):
            for _ in range(2):
                say(held)
                _is_full(held)
            _leaves_room_for_one(wanted)


def _is_full(held: RequestedModel) -> None:
    """See that no room is left beside the model that is loaded, not even for a small one."""
    small = held.app.asks(SMALL)
    small.receives(PARKED)
    small.cancel()


def _leaves_room_for_one(wanted: RequestedModel) -> None:
    """See that the model, once it is gone, leaves the whole room: for one large model, and for no more."""
    fixture = wanted.app.fixture
    wanted.unload()
    fixture.app(_FOREGROUND).loads(LARGE).receives(GRANT)
    fixture.app(_VISIBLE).asks(LARGE).receives(PARKED)
