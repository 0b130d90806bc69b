"""The life cycle's table, row by row, under the budget policy: each state, what leads to it, and what it ends in.

States as a client can tell them apart: granted, waiting, parked, loaded, asked to unload, and gone.
"""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, Notification
from npu_conformance.cts.lib.manager_fixture import (
    LARGE,
    MEDIUM,
    SMALL,
    UNLOAD,
    ManagerFixture,
    RequestedModel,
    switched,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Flag, Importance, Policy, PolicyParameters, UnloadReason

cases = CaseGroup("cts.npu_manager.transition", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE = Importance.FOREGROUND, Importance.VISIBLE
SERVICE, CACHED = Importance.SERVICE, Importance.CACHED


@cases.case("fits", "NPU-LIF-004", "NPU-LIF-005", "NPU-POL-005", scope=Scope.SMOKE)
def fits(context: CaseContext) -> None:
    """A request that fits the budget is granted; loading it causes no callback; unloading it completes."""
    model = ManagerFixture(context).app().loads(LARGE)
    model.receives(GRANT)
    model.unload()
    model.receives(GRANT, COMPLETE)


@cases.case(
    "waits_for_loaded", "NPU-LIF-007", "NPU-LIF-016", "NPU-LIF-018", "NPU-LIF-021", "NPU-POL-013", scope=Scope.SMOKE
)
def waits_for_loaded(context: CaseContext) -> None:
    """A foreground request makes the background model unload, waits for it, and is then granted."""
    held, wanted = _waiting(ManagerFixture(context))
    held.asked_because(UnloadReason.FOREGROUND_PREEMPTION)
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    wanted.receives(WAIT, GRANT)


@cases.case("displaces_granted", "NPU-POL-014", "NPU-LIF-016", "NPU-LIF-011", "NPU-LIF-013")
def displaces_granted(context: CaseContext) -> None:
    """A granted background request that is not loaded is cancelled, not asked to unload; the foreground is granted."""
    fixture = ManagerFixture(context)
    pending = fixture.app(CACHED).granted(LARGE)
    wanted = fixture.app(FOREGROUND).asks(LARGE)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    pending.receives(GRANT, CANCELLED)


@cases.case("displaced_loads_too_late", "NPU-LIF-013", "NPU-LIF-014", "NPU-LIF-024")
def displaced_loads_too_late(context: CaseContext) -> None:
    """What a displaced client notifies about its cancelled request changes nothing for the one that was granted."""
    fixture = ManagerFixture(context)
    pending = fixture.app(CACHED).granted(LARGE)
    wanted = fixture.app(FOREGROUND).asks(LARGE)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    pending.load()
    pending.unload()
    pending.cancel()
    pending.receives(GRANT, CANCELLED)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    wanted.cancel()
    pending.app.asks(LARGE).receives(GRANT)


@cases.case("parks", "NPU-LIF-004", "NPU-LIF-005", "NPU-LIF-006", "NPU-POL-015")
def parks(context: CaseContext) -> None:
    """A background request that does not fit beside the foreground's model is parked; the foreground gets nothing."""
    held, parked = _parked(ManagerFixture(context))
    held.receives(GRANT)
    parked.receives(PARKED)


@cases.case("parked_then_granted", "NPU-LIF-008", "NPU-LIF-010", "NPU-POL-021")
def parked_then_granted(context: CaseContext) -> None:
    """Unloading a model grants a parked request."""
    held, parked = _parked(ManagerFixture(context))
    held.unload()
    held.receives(GRANT, COMPLETE)
    parked.receives(PARKED, GRANT)


@cases.case("parked_after_cancellation", "NPU-LIF-008", "NPU-LIF-012")
def parked_after_cancellation(context: CaseContext) -> None:
    """Cancelling a loaded request frees its capacity for a parked one."""
    held, parked = _parked(ManagerFixture(context))
    held.cancel()
    held.receives(GRANT, CANCELLED)
    parked.receives(PARKED, GRANT)


@cases.case("parked_then_waiting", "NPU-LIF-008", "NPU-PRI-013", "NPU-PRI-002")
def parked_then_waiting(context: CaseContext) -> None:
    """A parked request whose app comes to the foreground waits for the other's model, and is granted."""
    fixture = ManagerFixture(context)
    holder, waiter = fixture.app(VISIBLE), fixture.app(CACHED)
    held, parked = holder.loads(LARGE), waiter.asks(LARGE)
    parked.receives(PARKED)
    waiter.moves(FOREGROUND)
    held.receives(GRANT, UNLOAD)
    held.asked_because(UnloadReason.PRIORITY_CHANGE)
    parked.receives(PARKED, WAIT)
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    parked.receives(PARKED, WAIT, GRANT)


@cases.case("parked_stays", "NPU-POL-022", "NPU-LIF-013")
def parked_stays(context: CaseContext) -> None:
    """A re-evaluation that grants another request leaves a parked one parked: nothing is said about it."""
    fixture = ManagerFixture(context)
    holder, strong, weak = fixture.app(FOREGROUND), fixture.app(VISIBLE), fixture.app(CACHED)
    held, next_one, last = holder.loads(LARGE), strong.asks(LARGE), weak.asks(LARGE)
    next_one.receives(PARKED)
    last.receives(PARKED)
    held.unload()
    next_one.receives(PARKED, GRANT)
    last.receives(PARKED)


@cases.case("granted_then_outranked", "NPU-PRI-013", "NPU-POL-014", "NPU-LIF-011")
def granted_then_outranked(context: CaseContext) -> None:
    """A granted request that is not loaded is cancelled when a re-evaluation prefers a stronger app's."""
    fixture = ManagerFixture(context)
    holder, riser = fixture.app(VISIBLE), fixture.app(CACHED)
    pending, parked = holder.granted(LARGE), riser.asks(LARGE)
    parked.receives(PARKED)
    riser.moves(FOREGROUND)
    pending.receives(GRANT, CANCELLED)
    parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("waiting_then_outranked", "NPU-LIF-007", "NPU-LIF-011")
def waiting_then_outranked(context: CaseContext) -> None:
    """A waiting request loses to a stronger app's; what was asked to unload serves the stronger."""
    fixture = ManagerFixture(context)
    held = fixture.app(CACHED).loads(LARGE)
    waiting = fixture.app(VISIBLE).asks(LARGE)
    waiting.receives(WAIT)
    wanted = fixture.app(FOREGROUND).asks(LARGE)
    wanted.receives(WAIT)
    waiting.receives_one_of([WAIT, CANCELLED], [WAIT, PARKED], [WAIT])
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    wanted.receives(WAIT, GRANT)
    waiting.receives_one_of([WAIT, CANCELLED], [WAIT, PARKED], [WAIT])


@cases.case("loaded_when_parked", "NPU-LIF-026")
def loaded_when_parked(context: CaseContext) -> None:
    """A model loaded without a grant is counted as resident and asked to unload where it does not fit."""
    fixture = ManagerFixture(context)
    holder, intruder, third = fixture.app(FOREGROUND), fixture.app(VISIBLE), fixture.app(CACHED)
    held, parked = holder.loads(LARGE), intruder.asks(LARGE)
    parked.receives(PARKED)
    parked.load()
    parked.receives(PARKED, UNLOAD)
    parked.asked_because(UnloadReason.NO_GRANT)
    held.unload()
    held.receives(GRANT, COMPLETE)
    late = third.asks(SMALL)
    late.receives_one_of([PARKED], [WAIT])
    parked.unload()
    parked.receives(PARKED, UNLOAD, COMPLETE)
    late.receives_one_of([PARKED, GRANT], [WAIT, GRANT])


@cases.case("loaded_when_waiting", "NPU-LIF-026")
def loaded_when_waiting(context: CaseContext) -> None:
    """A model that is loaded while its request waits is counted as resident too, and asked to unload."""
    fixture = ManagerFixture(context)
    held, wanted = _waiting(fixture)
    wanted.load()
    wanted.receives(WAIT, UNLOAD)
    held.unload()
    late = fixture.app(CACHED).asks(SMALL)
    late.receives_one_of([PARKED], [WAIT])
    wanted.unload()
    wanted.receives(WAIT, UNLOAD, COMPLETE)
    late.receives_one_of([PARKED, GRANT], [WAIT, GRANT])


@cases.case("free_beside_what_was_not_granted", "NPU-LIF-026", "NPU-POL-021")
def free_beside_what_was_not_granted(context: CaseContext) -> None:
    """A model loaded without a grant counts once: what is free beside it is granted to the most important app."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(6))
    fixture.app(CACHED).loads(LARGE)
    fixture.app(VISIBLE).asks(LARGE).receives(WAIT)
    intruder = fixture.app(CACHED).asks(SMALL)
    intruder.receives_one_of([PARKED], [WAIT], [GRANT])
    intruder.load()
    fixture.app(FOREGROUND).asks(SMALL).receives(GRANT)


@cases.case("asked_then_cancelled", "NPU-LIF-012", "NPU-LIF-013")
def asked_then_cancelled(context: CaseContext) -> None:
    """A client that is asked to unload may cancel instead: CANCELLED, and its capacity is free."""
    held, wanted = _waiting(ManagerFixture(context))
    held.cancel()
    held.receives(GRANT, UNLOAD, CANCELLED)
    wanted.receives(WAIT, GRANT)
    held.unload()
    held.receives(GRANT, UNLOAD, CANCELLED)


@cases.case("waiting_cancelled", "NPU-LIF-011", "NPU-LIF-013")
def waiting_cancelled(context: CaseContext) -> None:
    """A waiting request that is cancelled gets CANCELLED once, and nothing when the capacity comes."""
    held, wanted = _waiting(ManagerFixture(context))
    wanted.cancel()
    wanted.receives(WAIT, CANCELLED)
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    wanted.receives(WAIT, CANCELLED)


@cases.case("parked_cancelled", "NPU-LIF-011", "NPU-LIF-013")
def parked_cancelled(context: CaseContext) -> None:
    """A parked request that is cancelled gets CANCELLED once, and nothing when the capacity comes."""
    held, parked = _parked(ManagerFixture(context))
    parked.cancel()
    parked.receives(PARKED, CANCELLED)
    held.unload()
    parked.receives(PARKED, CANCELLED)


@cases.case("granted_cancelled", "NPU-LIF-011", "NPU-LIF-008")
def granted_cancelled(context: CaseContext) -> None:
    """A granted request that is cancelled frees what it held."""
    fixture = ManagerFixture(context)
    pending, parked = fixture.app(FOREGROUND).granted(LARGE), fixture.app(VISIBLE).asks(LARGE)
    parked.receives(PARKED)
    pending.cancel()
    pending.receives(GRANT, CANCELLED)
    parked.receives(PARKED, GRANT)


@cases.case("cancelled_twice", "NPU-LIF-011", "NPU-LIF-014")
def cancelled_twice(context: CaseContext) -> None:
    """The second cancellation of a request frees nothing again: the budget stays as tight as it is."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(FOREGROUND), fixture.app(VISIBLE)
    cancelled, kept = app.granted(MEDIUM), app.loads(MEDIUM)
    cancelled.cancel()
    checks.succeeds(cancelled.cancel, "second cancelModelLoad")
    cancelled.receives(GRANT, CANCELLED)
    other.asks(LARGE).receives(PARKED)
    kept.receives(GRANT)


@cases.case("unloaded_twice", "NPU-LIF-010", "NPU-LIF-014")
def unloaded_twice(context: CaseContext) -> None:
    """The second unloaded notification frees nothing again."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(FOREGROUND), fixture.app(VISIBLE)
    gone, kept = app.loads(MEDIUM), app.loads(MEDIUM)
    gone.unload()
    checks.succeeds(gone.unload, "second notifyModelUnloaded")
    gone.receives(GRANT, COMPLETE)
    other.asks(LARGE).receives(PARKED)
    kept.receives(GRANT)


@cases.case("loaded_twice", "NPU-LIF-015")
def loaded_twice(context: CaseContext) -> None:
    """A repeated loaded notification takes no budget again."""
    fixture = ManagerFixture(context)
    app = fixture.app(FOREGROUND)
    held = app.loads(MEDIUM)
    checks.succeeds(held.load, "second notifyModelLoaded")
    app.loads(MEDIUM).receives(GRANT)
    held.receives(GRANT)


@cases.case("asked_loads_again", "NPU-LIF-015", "NPU-LIF-017")
def asked_loads_again(context: CaseContext) -> None:
    """A loaded notification of a model that is asked to unload changes nothing; asking again is a quality warning."""
    held, wanted = _waiting(ManagerFixture(context))
    held.load()
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    held.unload()
    wanted.receives(WAIT, GRANT)


@cases.case("asked_once", "NPU-LIF-017")
def asked_once(context: CaseContext) -> None:
    """Events elsewhere ought not to repeat an unload request that is unanswered: a quality matter."""
    fixture = ManagerFixture(context)
    held, wanted = _waiting(fixture)
    passer = fixture.app(Importance.GONE)
    passer.asks(SMALL).cancel()
    passer.moves(CACHED)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)


@cases.case("unload_in_one_form", "NPU-LIF-018")
def unload_in_one_form(context: CaseContext) -> None:
    """An unload request comes with a reason or without one, never in both forms."""
    held, _ = _waiting(ManagerFixture(context))
    _in_one_form(held)


@cases.case("unload_without_reason", "NPU-LIF-018")
def unload_without_reason(context: CaseContext) -> None:
    """Where unload requests carry no reasons they come in the form without one, and are answered as others."""
    with switched(context, Flag.UNLOAD_REASON, False):
        held, wanted = _waiting(ManagerFixture(context))
        if _in_one_form(held) != {False}:
            context.warn_quality(f"{held.name}: asked to unload with a reason, though the flag is off")
        held.unload()
        held.receives(GRANT, UNLOAD, COMPLETE)
        wanted.receives(WAIT, GRANT)


@cases.case("unload_ignored", "NPU-LIF-027")
def unload_ignored(context: CaseContext) -> None:
    """A client that ignores an unload request blocks nobody for ever: after the time set, others are granted."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock nobody waits for a client that never answers")
    fixture = ManagerFixture(context)
    with fixture.unload_timeout(60_000_000_000):
        held, wanted = _waiting(fixture)
        fixture.control.advance_clock(55_000_000_000)
        wanted.receives(WAIT)
        held.receives(GRANT, UNLOAD)
        fixture.control.advance_clock(10_000_000_000)
        wanted.receives(WAIT, GRANT)
        held.unload()
        held.cancel()
        held.receives_one_of([GRANT, UNLOAD, CANCELLED], [GRANT, UNLOAD, COMPLETE], [GRANT, UNLOAD])
        wanted.receives(WAIT, GRANT)


@cases.case("policy_ends_all", "NPU-LIF-022", "NPU-LIF-023", "NPU-LIF-013", "NPU-LIF-018")
def policy_ends_all(context: CaseContext) -> None:
    """Replacing the policy ends requests in every state: each may receive CANCELLED, a loaded one an unload before."""
    fixture = ManagerFixture(context)
    weak, middle, strong = fixture.app(CACHED), fixture.app(SERVICE), fixture.app(FOREGROUND)
    asked, pending = weak.loads(MEDIUM), strong.granted(MEDIUM)
    waiting = middle.asks(MEDIUM)
    waiting.receives(WAIT)
    parked = weak.asks(LARGE)
    parked.receives(PARKED)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    _ends_quietly(asked, GRANT, UNLOAD)
    _ends_quietly(pending, GRANT)
    _ends_quietly(waiting, WAIT)
    _ends_quietly(parked, PARKED)
    wanted = weak.asks(LARGE)
    wanted.receives(GRANT)
    for model in (asked, pending):
        model.unload()
        model.cancel()
    middle.asks(LARGE).receives_one_of([GRANT], [WAIT, GRANT])
    wanted.receives(GRANT, CANCELLED)


def _ends_quietly(model: RequestedModel, *before: Notification) -> None:
    model.receives_one_of(before, (*before, CANCELLED), (*before, UNLOAD), (*before, UNLOAD, CANCELLED))


def _in_one_form(held: RequestedModel) -> set[bool]:
    """See that all unload requests of a model are in one form: whether with a reason."""
    forms = {event.status is not None for event in held.events if event.kind == "unload"}
    checks.equal(len(forms), 1, f"forms of the unload request of {held.name}")
    return forms


def _waiting(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    """A cached app's loaded model that is asked to unload, and the foreground request that waits for it."""
    held = fixture.app(CACHED).loads(LARGE)
    wanted = fixture.app(FOREGROUND).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    return held, wanted


def _parked(fixture: ManagerFixture) -> tuple[RequestedModel, RequestedModel]:
    """The foreground's loaded model, and a visible app's request that is parked beside it."""
    held = fixture.app(FOREGROUND).loads(LARGE)
    parked = fixture.app(VISIBLE).asks(LARGE)
    held.receives(GRANT)
    parked.receives(PARKED)
    return held, parked
