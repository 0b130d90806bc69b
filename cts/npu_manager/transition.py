"""The life cycle's table, row by row, under the budget policy: each state, what leads to it, and what it ends in.

States as a client can tell them apart: granted, waiting, parked, loaded, asked to unload, and gone.
"""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, Said
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, Model, Scene, switched
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Flag, Importance, Policy, UnloadReason

cases = CaseGroup("cts.npu_manager.transition", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE, SERVICE, CACHED = (
    Importance.FOREGROUND, Importance.VISIBLE, Importance.SERVICE, Importance.CACHED,
)  # fmt: skip


@cases.case("fits", "NPU-LIF-004", "NPU-LIF-005", "NPU-POL-005", scope=Scope.SMOKE)
def fits(context: CaseContext) -> None:
    """What fits the budget is granted; loading it is answered by nothing; unloading it completes."""
    model = Scene(context).app().loads(LARGE)
    model.hears(GRANT)
    model.unload()
    model.hears(GRANT, COMPLETE)


@cases.case(
    "waits_for_loaded", "NPU-LIF-007", "NPU-LIF-016", "NPU-LIF-018", "NPU-LIF-021", "NPU-POL-013", scope=Scope.SMOKE
)
def waits_for_loaded(context: CaseContext) -> None:
    """A foreground request makes the background model unload, waits for it, and is then granted."""
    held, wanted = _waiting(Scene(context))
    held.asked_because(UnloadReason.FOREGROUND_PREEMPTION)
    held.unload()
    held.hears(GRANT, UNLOAD, COMPLETE)
    wanted.hears(WAIT, GRANT)


@cases.case("displaces_granted", "NPU-POL-014", "NPU-LIF-016", "NPU-LIF-011", "NPU-LIF-013")
def displaces_granted(context: CaseContext) -> None:
    """A granted background request that is not loaded is cancelled, not asked to unload; the foreground is granted."""
    scene = Scene(context)
    pending = scene.app(CACHED).granted(LARGE)
    wanted = scene.app(FOREGROUND).asks(LARGE)
    wanted.hears_one_of([GRANT], [WAIT, GRANT])
    pending.hears(GRANT, CANCELLED)


@cases.case("displaced_loads_too_late", "NPU-LIF-013", "NPU-LIF-014", "NPU-LIF-024")
def displaced_loads_too_late(context: CaseContext) -> None:
    """What a displaced client notifies about its cancelled request changes nothing for the one that was granted."""
    scene = Scene(context)
    pending = scene.app(CACHED).granted(LARGE)
    wanted = scene.app(FOREGROUND).asks(LARGE)
    wanted.hears_one_of([GRANT], [WAIT, GRANT])
    pending.load()
    pending.unload()
    pending.cancel()
    pending.hears(GRANT, CANCELLED)
    wanted.hears_one_of([GRANT], [WAIT, GRANT])
    wanted.cancel()
    pending.app.asks(LARGE).hears(GRANT)


@cases.case("parks", "NPU-LIF-004", "NPU-LIF-005", "NPU-LIF-006", "NPU-POL-015")
def parks(context: CaseContext) -> None:
    """A background request that does not fit beside the foreground's model is parked; the foreground hears nothing."""
    held, parked = _parked(Scene(context))
    held.hears(GRANT)
    parked.hears(PARKED)


@cases.case("parked_then_granted", "NPU-LIF-008", "NPU-LIF-010", "NPU-POL-021")
def parked_then_granted(context: CaseContext) -> None:
    """Unloading grants what is parked."""
    held, parked = _parked(Scene(context))
    held.unload()
    held.hears(GRANT, COMPLETE)
    parked.hears(PARKED, GRANT)


@cases.case("parked_after_cancellation", "NPU-LIF-008", "NPU-LIF-012")
def parked_after_cancellation(context: CaseContext) -> None:
    """Cancelling a loaded request frees its capacity for what is parked."""
    held, parked = _parked(Scene(context))
    held.cancel()
    held.hears(GRANT, CANCELLED)
    parked.hears(PARKED, GRANT)


@cases.case("parked_then_waiting", "NPU-LIF-008", "NPU-PRI-013", "NPU-PRI-002")
def parked_then_waiting(context: CaseContext) -> None:
    """A parked request whose app comes to the foreground waits for the other's model, and is granted."""
    scene = Scene(context)
    holder, waiter = scene.app(VISIBLE), scene.app(CACHED)
    held, parked = holder.loads(LARGE), waiter.asks(LARGE)
    parked.hears(PARKED)
    waiter.moves(FOREGROUND)
    held.hears(GRANT, UNLOAD)
    held.asked_because(UnloadReason.PRIORITY_CHANGE)
    parked.hears(PARKED, WAIT)
    held.unload()
    held.hears(GRANT, UNLOAD, COMPLETE)
    parked.hears(PARKED, WAIT, GRANT)


@cases.case("parked_stays", "NPU-POL-022", "NPU-LIF-013")
def parked_stays(context: CaseContext) -> None:
    """A re-evaluation that grants another request leaves a parked one parked: nothing is said about it."""
    scene = Scene(context)
    holder, strong, weak = scene.app(FOREGROUND), scene.app(VISIBLE), scene.app(CACHED)
    held, next_one, last = holder.loads(LARGE), strong.asks(LARGE), weak.asks(LARGE)
    next_one.hears(PARKED)
    last.hears(PARKED)
    held.unload()
    next_one.hears(PARKED, GRANT)
    last.hears(PARKED)


@cases.case("granted_then_outranked", "NPU-LIF-011", "NPU-PRI-013", "NPU-POL-014")
def granted_then_outranked(context: CaseContext) -> None:
    """A granted request that is not loaded is cancelled when a re-evaluation prefers a stronger app's."""
    scene = Scene(context)
    holder, riser = scene.app(VISIBLE), scene.app(CACHED)
    pending, parked = holder.granted(LARGE), riser.asks(LARGE)
    parked.hears(PARKED)
    riser.moves(FOREGROUND)
    pending.hears(GRANT, CANCELLED)
    parked.hears_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("waiting_then_outranked", "NPU-LIF-007", "NPU-LIF-011")
def waiting_then_outranked(context: CaseContext) -> None:
    """A waiting request loses to a stronger app's; what was asked to unload serves the stronger."""
    scene = Scene(context)
    held = scene.app(CACHED).loads(LARGE)
    waiting = scene.app(VISIBLE).asks(LARGE)
    waiting.hears(WAIT)
    wanted = scene.app(FOREGROUND).asks(LARGE)
    wanted.hears(WAIT)
    waiting.hears_one_of([WAIT, CANCELLED], [WAIT, PARKED], [WAIT])
    held.unload()
    held.hears(GRANT, UNLOAD, COMPLETE)
    wanted.hears(WAIT, GRANT)
    waiting.hears_one_of([WAIT, CANCELLED], [WAIT, PARKED], [WAIT])


@cases.case("loaded_when_parked", "NPU-LIF-026")
def loaded_when_parked(context: CaseContext) -> None:
    """A model loaded without a grant is counted as resident and asked to unload where it does not fit."""
    scene = Scene(context)
    holder, intruder, third = scene.app(FOREGROUND), scene.app(VISIBLE), scene.app(CACHED)
    held, parked = holder.loads(LARGE), intruder.asks(LARGE)
    parked.hears(PARKED)
    parked.load()
    parked.hears(PARKED, UNLOAD)
    parked.asked_because(UnloadReason.NO_GRANT)
    held.unload()
    held.hears(GRANT, COMPLETE)
    late = third.asks(SMALL)
    late.hears_one_of([PARKED], [WAIT])
    parked.unload()
    parked.hears(PARKED, UNLOAD, COMPLETE)
    late.hears_one_of([PARKED, GRANT], [WAIT, GRANT])


@cases.case("asked_then_cancelled", "NPU-LIF-012", "NPU-LIF-013")
def asked_then_cancelled(context: CaseContext) -> None:
    """A client that is asked to unload may cancel instead: CANCELLED, and its capacity is free."""
    held, wanted = _waiting(Scene(context))
    held.cancel()
    held.hears(GRANT, UNLOAD, CANCELLED)
    wanted.hears(WAIT, GRANT)
    held.unload()
    held.hears(GRANT, UNLOAD, CANCELLED)


@cases.case("waiting_cancelled", "NPU-LIF-011", "NPU-LIF-013")
def waiting_cancelled(context: CaseContext) -> None:
    """A waiting request that is cancelled gets CANCELLED once, and nothing when the capacity comes."""
    held, wanted = _waiting(Scene(context))
    wanted.cancel()
    wanted.hears(WAIT, CANCELLED)
    held.unload()
    held.hears(GRANT, UNLOAD, COMPLETE)
    wanted.hears(WAIT, CANCELLED)


@cases.case("parked_cancelled", "NPU-LIF-011", "NPU-LIF-013")
def parked_cancelled(context: CaseContext) -> None:
    """A parked request that is cancelled gets CANCELLED once, and nothing when the capacity comes."""
    held, parked = _parked(Scene(context))
    parked.cancel()
    parked.hears(PARKED, CANCELLED)
    held.unload()
    parked.hears(PARKED, CANCELLED)


@cases.case("granted_cancelled", "NPU-LIF-011", "NPU-LIF-008")
def granted_cancelled(context: CaseContext) -> None:
    """A granted request that is cancelled frees what it held."""
    scene = Scene(context)
    pending, parked = scene.app(FOREGROUND).granted(LARGE), scene.app(VISIBLE).asks(LARGE)
    parked.hears(PARKED)
    pending.cancel()
    pending.hears(GRANT, CANCELLED)
    parked.hears(PARKED, GRANT)


@cases.case("cancelled_twice", "NPU-LIF-011", "NPU-LIF-014")
def cancelled_twice(context: CaseContext) -> None:
    """The second cancellation of a request frees nothing again: the budget stays as tight as it is."""
    scene = Scene(context)
    app, other = scene.app(FOREGROUND), scene.app(VISIBLE)
    cancelled, kept = app.granted(MEDIUM), app.loads(MEDIUM)
    cancelled.cancel()
    checks.succeeds(cancelled.cancel, "second cancelModelLoad")
    cancelled.hears(GRANT, CANCELLED)
    other.asks(LARGE).hears(PARKED)
    kept.hears(GRANT)


@cases.case("unloaded_twice", "NPU-LIF-010", "NPU-LIF-014")
def unloaded_twice(context: CaseContext) -> None:
    """The second unloaded notification frees nothing again."""
    scene = Scene(context)
    app, other = scene.app(FOREGROUND), scene.app(VISIBLE)
    gone, kept = app.loads(MEDIUM), app.loads(MEDIUM)
    gone.unload()
    checks.succeeds(gone.unload, "second notifyModelUnloaded")
    gone.hears(GRANT, COMPLETE)
    other.asks(LARGE).hears(PARKED)
    kept.hears(GRANT)


@cases.case("loaded_twice", "NPU-LIF-015")
def loaded_twice(context: CaseContext) -> None:
    """A repeated loaded notification takes no budget again."""
    scene = Scene(context)
    app = scene.app(FOREGROUND)
    held = app.loads(MEDIUM)
    checks.succeeds(held.load, "second notifyModelLoaded")
    app.loads(MEDIUM).hears(GRANT)
    held.hears(GRANT)


@cases.case("asked_loads_again", "NPU-LIF-015", "NPU-LIF-017")
def asked_loads_again(context: CaseContext) -> None:
    """A loaded notification of a model that is asked to unload changes nothing; asking again is bad taste only."""
    held, wanted = _waiting(Scene(context))
    held.load()
    held.hears(GRANT, UNLOAD)
    wanted.hears(WAIT)
    held.unload()
    wanted.hears(WAIT, GRANT)


@cases.case("asked_once", "NPU-LIF-017")
def asked_once(context: CaseContext) -> None:
    """Events elsewhere ought not to repeat an unload request that is unanswered: a quality matter."""
    scene = Scene(context)
    held, wanted = _waiting(scene)
    passer = scene.app(Importance.GONE)
    passer.asks(SMALL).cancel()
    passer.moves(CACHED)
    held.hears(GRANT, UNLOAD)
    wanted.hears(WAIT)


@cases.case("unload_in_one_form", "NPU-LIF-018")
def unload_in_one_form(context: CaseContext) -> None:
    """An unload request comes with a reason or without one, never in both forms."""
    held, _ = _waiting(Scene(context))
    _in_one_form(held)


@cases.case("unload_without_reason", "NPU-LIF-018")
def unload_without_reason(context: CaseContext) -> None:
    """Where unload requests carry no reasons they come in the form without one, and are answered as others."""
    with switched(context, Flag.UNLOAD_REASON, False):
        held, wanted = _waiting(Scene(context))
        if _in_one_form(held) != {False}:
            context.warn_quality(f"{held.name}: asked to unload with a reason, though the flag is off")
        held.unload()
        held.hears(GRANT, UNLOAD, COMPLETE)
        wanted.hears(WAIT, GRANT)


@cases.case("unload_ignored", "NPU-LIF-027")
def unload_ignored(context: CaseContext) -> None:
    """A client that ignores an unload request blocks nobody for ever: after the time set, others are granted."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock nobody waits for a client that never answers")
    scene = Scene(context)
    with scene.unload_timeout(60_000_000_000):
        held, wanted = _waiting(scene)
        scene.control.advance_clock(55_000_000_000)
        wanted.hears(WAIT)
        held.hears(GRANT, UNLOAD)
        scene.control.advance_clock(10_000_000_000)
        wanted.hears(WAIT, GRANT)
        held.unload()
        held.cancel()
        held.hears_one_of([GRANT, UNLOAD, CANCELLED], [GRANT, UNLOAD, COMPLETE], [GRANT, UNLOAD])
        wanted.hears(WAIT, GRANT)


@cases.case("policy_ends_all", "NPU-LIF-022", "NPU-LIF-023", "NPU-LIF-013", "NPU-LIF-018")
def policy_ends_all(context: CaseContext) -> None:
    """Replacing the policy ends requests in every state: each may hear CANCELLED, a loaded one to unload before."""
    scene = Scene(context)
    weak, middle, strong = scene.app(CACHED), scene.app(SERVICE), scene.app(FOREGROUND)
    asked, pending = weak.loads(MEDIUM), strong.granted(MEDIUM)
    waiting = middle.asks(MEDIUM)
    waiting.hears(WAIT)
    parked = weak.asks(LARGE)
    parked.hears(PARKED)
    scene.settings.manager.set_policy(Policy.BUDGET, None)
    _ends_quietly(asked, GRANT, UNLOAD)
    _ends_quietly(pending, GRANT)
    _ends_quietly(waiting, WAIT)
    _ends_quietly(parked, PARKED)
    wanted = weak.asks(LARGE)
    wanted.hears(GRANT)
    for model in (asked, pending):
        model.unload()
        model.cancel()
    middle.asks(LARGE).hears_one_of([GRANT], [WAIT, GRANT])
    wanted.hears(GRANT, CANCELLED)


def _ends_quietly(model: Model, *before: Said) -> None:
    model.hears_one_of(before, (*before, CANCELLED), (*before, UNLOAD), (*before, UNLOAD, CANCELLED))


def _in_one_form(held: Model) -> set[bool]:
    """See that all unload requests of a model are in one form: whether with a reason."""
    forms = {event.status is not None for event in held.events if event.kind == "unload"}
    checks.equal(len(forms), 1, f"forms of the unload request of {held.name}")
    return forms


def _waiting(scene: Scene) -> tuple[Model, Model]:
    """A cached app's loaded model that is asked to unload, and the foreground request that waits for it."""
    held = scene.app(CACHED).loads(LARGE)
    wanted = scene.app(FOREGROUND).asks(LARGE)
    held.hears(GRANT, UNLOAD)
    wanted.hears(WAIT)
    return held, wanted


def _parked(scene: Scene) -> tuple[Model, Model]:
    """The foreground's loaded model, and a visible app's request that is parked beside it."""
    held = scene.app(FOREGROUND).loads(LARGE)
    parked = scene.app(VISIBLE).asks(LARGE)
    held.hears(GRANT)
    parked.hears(PARKED)
    return held, parked
