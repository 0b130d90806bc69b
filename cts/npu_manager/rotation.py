"""Apps of one importance take turns: an app that has completed work makes room for one that has not.

Work is reported by a HAL of the suite's own, in any way that a vendor's may end it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager

from npu_conformance.cts.lib.manager_client import (
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    WAIT,
    Notification,
    opportunistic_of,
)
from npu_conformance.cts.lib.manager_fixture import (
    CALLBACK_SECONDS,
    LARGE,
    MEDIUM,
    SMALL,
    UNLOAD,
    ClientApp,
    ManagerFixture,
    RequestedModel,
)
from npu_conformance.cts.lib.manager_turns import judge_turn, one_is_served
from npu_conformance.cts.lib.scheduling_hal import OWN, RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import ROOT_UID, EndReason, Importance, ModelPriority, Policy, UnloadReason

cases = CaseGroup("cts.npu_manager.rotation", interface="manager", group=Group.MANAGER_POLICIES)

VISIBLE, CACHED = Importance.VISIBLE, Importance.CACHED
_WAYS_TO_A_GRANT: tuple[list[Notification], ...] = ([GRANT], [PARKED, GRANT], [WAIT, GRANT], [PARKED, WAIT, GRANT])


@cases.case("completion_rotates", "NPU-POL-018", "NPU-POL-004", "NPU-LIF-008")
def completion_rotates(context: CaseContext) -> None:
    """CTS equalImportances: the second of two equals is parked until the first completes work."""
    for policy in (Policy.TURN_TAKING, Policy.BUDGET):
        with _equals(context, 2, policy) as (hal, (first, second)):
            held, parked = first.loads(LARGE), second.asks(LARGE)
            parked.receives(PARKED)
            held.receives(GRANT)
            hal.works(first.uid)
            held.receives(GRANT, UNLOAD)
            held.asked_because(UnloadReason.ROTATION)
            held.unload()
            held.receives(GRANT, UNLOAD, COMPLETE)
            parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("all_models_of_the_completing_app", "NPU-POL-018")
def all_models_of_the_completing_app(context: CaseContext) -> None:
    """Rotation asks for all models of the app that completed work, and for nobody else's."""
    with _equals(context, 3) as (hal, (first, second, third)):
        held = [first.loads(SMALL), first.loads(SMALL)]
        other = second.loads(MEDIUM)
        third.asks(SMALL).receives(PARKED)
        hal.works(first.uid)
        for model in held:
            model.receives(GRANT, UNLOAD)
        other.receives(GRANT)


@cases.case("heir_needs_more", "NPU-POL-018", "NPU-POL-029", "NPU-LIF-008")
def heir_needs_more(context: CaseContext) -> None:
    """The completing app makes room also where that is not enough for the waiting one; the rest may come in any way.

    So it does whatever priority the waiting request has: that ranks an app's own requests alone.
    """
    for priority in (ModelPriority.NORMAL, ModelPriority.BACKGROUND, opportunistic_of(context)):
        with _equals(context, 3) as (hal, (first, second, third)):
            held, other, wanted = first.loads(MEDIUM), second.loads(MEDIUM), third.asks(LARGE, priority)
            wanted.receives(PARKED)
            hal.works(first.uid)
            held.receives(GRANT, UNLOAD)
            other.receives(GRANT)
            held.unload()
            wanted.receives_one_of([PARKED], [PARKED, WAIT])
            other.unload()
            wanted.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("heir_in_the_way", "NPU-POL-013", "NPU-LIF-007", "NPU-LIF-005")
def heir_in_the_way(context: CaseContext) -> None:
    """Room that waits for more of it, for a parked request, counts as what it is where a stronger app wants all."""
    with _equals(context, 3) as (hal, (first, second, third)):
        held, other, parked = first.loads(MEDIUM), second.loads(MEDIUM), third.asks(LARGE)
        parked.receives(PARKED)
        hal.works(first.uid)
        held.receives(GRANT, UNLOAD)
        held.unload()
        parked.receives_one_of([PARKED], [PARKED, WAIT])
        wanted = first.fixture.app(Importance.FOREGROUND).asks(LARGE)
        wanted.receives(WAIT)
        other.receives(GRANT, UNLOAD)
        other.unload()
        wanted.receives(WAIT, GRANT)


@cases.case("two_turns_at_once", "NPU-POL-018")
def two_turns_at_once(context: CaseContext) -> None:
    """An app whose turn is over makes room for an equal while another one's models are still to leave, too."""
    with _equals(context, 4) as (hal, (first, second, third, fourth)):
        held = [[app.loads(SMALL), app.loads(SMALL)] for app in (first, second)]
        wanted = [third.asks(MEDIUM), fourth.asks(SMALL)]
        for model in wanted:
            model.receives(PARKED)
        for app, models in zip((first, second), held, strict=True):
            hal.works(app.uid)
            for model in models:
                model.receives(GRANT, UNLOAD)
        for model in itertools.chain(*held):
            model.unload()
        for model in wanted:
            model.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("own_request_waits", "NPU-POL-016", "NPU-POL-018")
def own_request_waits(context: CaseContext) -> None:
    """Completed work makes no room for a further request of the app itself, alone or beside that of a weaker app."""
    with _equals(context, 1) as (hal, (app,)):
        held, own = app.loads(LARGE), app.asks(LARGE)
        own.receives(PARKED)
        hal.works(app.uid)
        held.receives(GRANT)
        app.fixture.app(CACHED).asks(MEDIUM).receives(PARKED)
        hal.works(app.uid)
        held.receives(GRANT)
        own.receives(PARKED)


@cases.case("heir_is_outranked", "NPU-POL-022", "NPU-POL-014")
def heir_is_outranked(context: CaseContext) -> None:
    """A parked request for which somebody makes room already stays live when a stronger one takes that room."""
    with _equals(context, 3) as (hal, (first, second, third)):
        held, other, parked = first.loads(MEDIUM), second.loads(MEDIUM), third.asks(LARGE)
        parked.receives(PARKED)
        hal.works(first.uid)
        held.receives(GRANT, UNLOAD)
        wanted = first.fixture.app(Importance.FOREGROUND).asks(MEDIUM)
        wanted.receives(WAIT)
        parked.receives_one_of([PARKED], [PARKED, WAIT], [PARKED, WAIT, PARKED], [PARKED, WAIT, CANCELLED])
        for model in (held, wanted, other):
            model.cancel()
        parked.receives_one_of(
            [PARKED, GRANT], [PARKED, WAIT, GRANT], [PARKED, WAIT, PARKED, GRANT], [PARKED, WAIT, CANCELLED]
        )


@cases.case("asked_once", "NPU-LIF-017", "NPU-POL-018")
def asked_once(context: CaseContext) -> None:
    """Further work of an app whose model is asked to unload ought not to repeat that: a quality matter."""
    with _equals(context, 2) as (hal, (first, second)):
        held, parked = first.loads(LARGE), second.asks(LARGE)
        parked.receives(PARKED)
        for _ in range(2):
            hal.works(first.uid)
            held.receives(GRANT, UNLOAD)
        held.unload()
        parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("other_ends", "NPU-POL-019")
def other_ends(context: CaseContext) -> None:
    """Work that ends in another way than completion rotates nothing."""
    with _equals(context, 2) as (hal, (first, second)):
        held, parked = first.loads(LARGE), second.asks(LARGE)
        for reason in (EndReason.CANCELLED_USER, EndReason.CANCELLED_SYSTEM, EndReason.PAUSED, EndReason.FAILED):
            hal.works(first.uid, reason)
            held.receives(GRANT)
        parked.receives(PARKED)
        second.asks(LARGE).receives(PARKED)
        held.receives(GRANT)


@cases.case("nobody_waits", "NPU-POL-018")
def nobody_waits(context: CaseContext) -> None:
    """Completed work asks for no unload while no equal has a request that is not loaded."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        first, equal, weaker = fixture.app(VISIBLE), fixture.app(VISIBLE), fixture.app(CACHED)
        held, other = first.loads(MEDIUM), equal.loads(MEDIUM)
        weaker.asks(LARGE).receives(PARKED)
        hal.works(first.uid)
        held.receives(GRANT)
        other.receives(GRANT)


@cases.case("attributed_work", "NPU-POL-018")
def attributed_work(context: CaseContext) -> None:
    """Work done for another app counts as that app's; an original uid of -1 means the submitter's own."""
    with _equals(context, 3) as (hal, (service, first, second)):
        hosted, held, parked = service.loads(MEDIUM), first.loads(MEDIUM), second.asks(MEDIUM)
        parked.receives(PARKED)
        hal.works(service.uid, original=ROOT_UID)
        hosted.receives(GRANT)
        held.receives(GRANT)
        hal.works(service.uid, original=first.uid)
        held.receives(GRANT, UNLOAD)
        hosted.receives(GRANT)
        held.unload()
        parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])
        again = first.asks(MEDIUM)
        again.receives(PARKED)
        hal.works(service.uid, original=OWN)
        hosted.receives(GRANT, UNLOAD)


@cases.case("equal_that_worked_yields", "NPU-POL-017")
def equal_that_worked_yields(context: CaseContext) -> None:
    """A holder that has completed work more recently than an equal requester makes room for it."""
    with _equals(context, 2) as (hal, (first, second)):
        held = first.loads(LARGE)
        hal.works(first.uid)
        held.receives(GRANT)
        wanted = second.asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
        held.unload()
        wanted.receives(WAIT, GRANT)


@cases.case("worked_while_it_waited", "NPU-POL-017")
def worked_while_it_waited(context: CaseContext) -> None:
    """Work counts that an app has completed while its request waited for an unload: it yields to an equal later."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        weak, first, second = fixture.app(CACHED), fixture.app(VISIBLE), fixture.app(VISIBLE)
        left, held = weak.loads(LARGE), first.asks(LARGE)
        held.receives(WAIT)
        hal.works(first.uid)
        left.unload()
        held.receives(WAIT, GRANT)
        held.load()
        wanted = second.asks(LARGE)
        held.receives(WAIT, GRANT, UNLOAD)
        wanted.receives(WAIT)


@cases.case("equal_that_worked_before_stays", "NPU-POL-017")
def equal_that_worked_before_stays(context: CaseContext) -> None:
    """A requester that has completed work more recently than an equal holder displaces nothing."""
    with _equals(context, 2) as (hal, (first, second)):
        held = first.loads(LARGE)
        hal.works(first.uid)
        hal.works(second.uid)
        second.asks(LARGE).receives(PARKED)
        held.receives(GRANT)


@cases.case("least_recent_first", "NPU-POL-023")
def least_recent_first(context: CaseContext) -> None:
    """Of equals whose requests are parked, the one that completed work least recently ought to be next."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        holder, early, late = fixture.app(Importance.FOREGROUND), fixture.app(VISIBLE), fixture.app(VISIBLE)
        held = holder.loads(LARGE)
        hal.works(early.uid)
        hal.works(late.uid)
        last, next_one = late.asks(LARGE), early.asks(LARGE)
        last.receives(PARKED)
        next_one.receives(PARKED)
        held.unload()
        judge_turn(next_one, last)


@cases.case("heirs_of_two_sizes", "NPU-POL-017", "NPU-POL-022", "NPU-POL-023")
def heirs_of_two_sizes(context: CaseContext) -> None:
    """Whoever is next when an app completes work, an equal that waits as well loses nothing by it."""
    for early_size, late_size in ((MEDIUM, LARGE), (LARGE, MEDIUM)):
        with _equals(context, 3) as (hal, (holder, early, late)):
            held = holder.loads(LARGE)
            hal.works(early.uid)
            hal.works(late.uid)
            last, next_one = late.asks(late_size), early.asks(early_size)
            last.receives(PARKED)
            next_one.receives(PARKED)
            hal.works(holder.uid)
            held.receives(GRANT, UNLOAD)
            held.unload()
            one_is_served(next_one, last)
            for model in (next_one, last):
                model.receives_one_of([PARKED], [PARKED, WAIT], [PARKED, GRANT], [PARKED, WAIT, GRANT])
            if GRANT not in next_one.received:
                context.warn_quality(f"the app that completed work most recently is served before one of {early_size}")


@cases.case("no_starvation", "NPU-POL-029", "NPU-POL-010")
def no_starvation(context: CaseContext) -> None:
    """Equals that complete work and answer unload requests all get their turn, within two rounds of as many turns."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        apps = [fixture.app(VISIBLE) for _ in range(4)]
        models: dict[ClientApp, RequestedModel] = {app: app.asks(LARGE) for app in apps}
        served: list[ClientApp] = []
        for _ in range(2 * len(apps)):
            holder = _holder(fixture, models)
            served.append(holder)
            models[holder].load()
            hal.works(holder.uid)
            models[holder].receives_one_of(*([*way, UNLOAD] for way in _WAYS_TO_A_GRANT))
            models[holder].unload()
            models[holder] = holder.asks(LARGE)
        starved = [app.uid for app in apps if app not in served]
        checks.equal(starved, [], f"uids without a grant in {len(served)} turns among {len(apps)} equals")


@cases.case("turns_while_others_load", "NPU-POL-029", "NPU-POL-021")
def turns_while_others_load(context: CaseContext) -> None:
    """A large request is not passed over for ever while two equals fill the budget with small ones in turn."""
    fixture = ManagerFixture(context)
    with recording_hal(fixture) as hal:
        busy = [fixture.app(VISIBLE), fixture.app(VISIBLE)]
        held = {app: app.loads(MEDIUM) for app in busy}
        wanted = fixture.app(VISIBLE).asks(LARGE)
        wanted.receives(PARKED)
        for app in _turns(fixture, busy):
            hal.works(app.uid)
            held[app] = _makes_room(held[app])
            if GRANT in wanted.received:
                return
        checks.fail(f"callbacks of {wanted.name}, while its equals complete work in turn", "a grant", "none")


def _turns(fixture: ManagerFixture, apps: list[ClientApp]) -> Iterator[ClientApp]:
    """Eight turns of each app; in real time as many as it takes what they bring about to arrive."""
    turns = itertools.cycle(apps)
    yield from itertools.islice(turns, 8 * len(apps))
    if not fixture.context.manifest.virtual_clock:
        end = time.monotonic() + CALLBACK_SECONDS * fixture.context.manifest.time_scale
        yield from itertools.takewhile(lambda _: time.monotonic() < end, turns)


def _makes_room(held: RequestedModel) -> RequestedModel:
    """Answer what a model's app was last told of it: unload it and ask for another one, or load it."""
    if held.received[-1:] == [UNLOAD]:
        held.unload()
        return held.app.asks(MEDIUM)
    if held.received[-1:] == [GRANT]:
        held.load()
    return held


@cases.case("withdrawn_heir", "NPU-POL-018", "NPU-LIF-011")
def withdrawn_heir(context: CaseContext) -> None:
    """When the request that a rotation was for is withdrawn, the app that made room may have it again."""
    with _equals(context, 2) as (hal, (first, second)):
        held, parked = first.loads(LARGE), second.asks(LARGE)
        parked.receives(PARKED)
        hal.works(first.uid)
        held.receives(GRANT, UNLOAD)
        parked.cancel()
        parked.receives_one_of([PARKED, CANCELLED], [PARKED, WAIT, CANCELLED])
        held.unload()
        held.receives(GRANT, UNLOAD, COMPLETE)
        first.loads(LARGE).receives(GRANT)


@contextmanager
def _equals(
    context: CaseContext, number: int, policy: Policy = Policy.BUDGET
) -> Iterator[tuple[RecordingHal, tuple[ClientApp, ...]]]:
    """So many apps of one importance, above a HAL that reports their work."""
    fixture = ManagerFixture(context, policy)
    with recording_hal(fixture) as hal:
        yield hal, tuple(fixture.app(VISIBLE) for _ in range(number))


def _holder(fixture: ManagerFixture, models: dict[ClientApp, RequestedModel]) -> ClientApp:
    fixture.wait(lambda: any(GRANT in model.received for model in models.values()))
    holders = [app for app, model in models.items() if GRANT in model.received]
    checks.equal(len(holders), 1, "apps with a granted large model")
    return holders[0]


@cases.case("first_since_the_start", "NPU-POL-017", "NPU-POL-023")
def first_since_the_start(context: CaseContext) -> None:
    """The very first work that is completed since the manager started counts, against apps that have completed none."""
    context.present(context.subject.interfaces.manager_control, "manager_control")
    context.restart()
    with _equals(context, 2, Policy.BUDGET) as (hal, (holder, other)):
        held = holder.loads(LARGE)
        hal.works(holder.uid)
        wanted = other.asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
