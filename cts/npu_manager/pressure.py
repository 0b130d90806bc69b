"""Heat and lack of memory: the budget shrinks, the weakest leave, and what was parked comes back afterwards.

How much is left at which level is the manager's choice; that it shrinks from SEVERE and LOW on is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, Notification
from npu_conformance.cts.lib.manager_fixture import (
    LARGE,
    MEDIUM,
    SMALL,
    UNLOAD,
    ClientApp,
    ManagerFixture,
    RequestedModel,
)
from npu_conformance.cts.lib.manager_pressure import HEAT, SHORTAGE, Press, heat, pressed, shortage
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import (
    Importance,
    MemoryPressure,
    Policy,
    PolicyParameters,
    ThermalStatus,
    UnloadReason,
)

cases = CaseGroup("cts.npu_manager.pressure", interface="manager", group=Group.MANAGER_POLICIES)

_HOLDERS = (
    ((Importance.FOREGROUND, 1), (Importance.VISIBLE, 1), (Importance.SERVICE, 1), (Importance.CACHED, 1)),
    ((Importance.FOREGROUND, 1), (Importance.CACHED, 3)),
    ((Importance.FOREGROUND, 3), (Importance.CACHED, 1)),
    ((Importance.VISIBLE, 1), (Importance.CACHED, 2), (Importance.CACHED, 1)),
    ((Importance.VISIBLE, 4),),
)
"""Importances of apps that fill the budget, and how many small models each has."""
_STRONGEST_FIRST = (Importance.FOREGROUND, Importance.VISIBLE, Importance.SERVICE, Importance.CACHED)


@cases.case("heat_unloads", "NPU-POL-026", "NPU-LIF-018")
def heat_unloads(context: CaseContext) -> None:
    """From severe heat on, models are asked to unload, the weakest holder's first."""
    for level in HEAT:
        _judge_weakest_first(ManagerFixture(context), heat, level, UnloadReason.THERMAL)


@cases.case("shortage_unloads", "NPU-POL-026", "NPU-LIF-018")
def shortage_unloads(context: CaseContext) -> None:
    """From low memory on, models are asked to unload, the weakest holder's first."""
    for level in SHORTAGE:
        _judge_weakest_first(ManagerFixture(context), shortage, level, UnloadReason.MEMORY)


@cases.case("no_more_than_needed", "NPU-POL-026")
def no_more_than_needed(context: CaseContext) -> None:
    """Pressure takes as many models of equal weight whoever has them, the weakest app's first: it empties no app."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock a further unload request may be on its way")
    for press, level in ((heat, ThermalStatus.SEVERE), (shortage, MemoryPressure.LOW)):
        found = {holders: _taken(ManagerFixture(context), press, level, holders) for holders in _HOLDERS}
        checks.equal(
            found, dict.fromkeys(_HOLDERS, found[_HOLDERS[0]]), f"models asked at pressure {level}, by holders"
        )


def _taken(fixture: ManagerFixture, press: Press, level: int, holders: tuple[tuple[int, int], ...]) -> int:
    """How many small models pressure takes of apps of these importances, each with so many."""
    apps = [(importance, fixture.app(importance), number) for importance, number in holders]
    models = [(importance, app.loads(SMALL)) for importance, app, number in apps for _ in range(number)]
    with pressed(fixture, press, level):
        fixture.wait(lambda: any(UNLOAD in model.received for _, model in models))
        asked = [importance for importance, model in models if UNLOAD in model.received]
        kept = [importance for importance, model in models if UNLOAD not in model.received]
    checks.that(
        not asked or not kept or min(asked) >= max(kept),
        f"importances of the models asked at pressure {level}: {asked}, of those left: {kept}",
    )
    return len(asked)


@cases.case("in_steps", "NPU-POL-026")
def in_steps(context: CaseContext) -> None:
    """Pressure that grows step by step takes as many models as the strongest does at once."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock a further unload request may be on its way")
    for press, levels in ((heat, HEAT), (shortage, SHORTAGE)):
        at_once, stepwise = (_asked_by(ManagerFixture(context), press, steps) for steps in (levels[-1:], levels))
        checks.equal(stepwise, at_once, f"models asked to unload by pressures {levels[0]:d} to {levels[-1]:d} in steps")


def _asked_by(fixture: ManagerFixture, press: Press, levels: Sequence[int]) -> int:
    """How many of eight small models are asked to unload when pressure comes to each of these levels."""
    fixture.settings.manager.set_policy(Policy.BUDGET, PolicyParameters(8))
    app = fixture.app(Importance.CACHED)
    models = [app.loads(SMALL) for _ in range(8)]
    with pressed(fixture, press, levels[0]):
        for level in levels[1:]:
            press(fixture, level)
            fixture.settle()
        fixture.settle()
        return sum(UNLOAD in model.received for model in models)


@cases.case("no_grant_beyond", "NPU-POL-027", "NPU-LIF-005")
def no_grant_beyond(context: CaseContext) -> None:
    """While pressure lasts nothing is granted in place of what had to leave; when it ends, what was parked is."""
    for press, level in ((heat, ThermalStatus.SEVERE), (shortage, MemoryPressure.LOW)):
        fixture = ManagerFixture(context)
        models = _four(fixture)
        with pressed(fixture, press, level):
            for model in _weakest_asked(fixture, models):
                model.unload()
            fixture.settle()
            late = fixture.app(Importance.GONE).asks(SMALL)
            late.receives_one_of(*_still_asked(fixture, [PARKED], [WAIT], [PARKED, WAIT]))
        late.receives_one_of(*_still_asked(fixture, [PARKED, GRANT], [WAIT, GRANT], [PARKED, WAIT, GRANT]))


@cases.case("no_grant_before_they_leave", "NPU-POL-027", "NPU-LIF-007", "NPU-LIF-008")
def no_grant_before_they_leave(context: CaseContext) -> None:
    """Room that was free before the pressure is granted to no app while what has to leave is still there."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(7))
    fixture.app(Importance.SERVICE).loads(LARGE)
    medium, small = fixture.app(Importance.CACHED).loads(MEDIUM), fixture.app(Importance.GONE).loads(SMALL)
    fixture.app(Importance.VISIBLE).asks(MEDIUM).receives(WAIT)
    small.receives(GRANT, UNLOAD)
    medium.receives(GRANT, UNLOAD)
    small.unload()
    with pressed(fixture, heat, ThermalStatus.SEVERE):
        late = fixture.app(Importance.FOREGROUND).asks(SMALL)
        late.receives_one_of([WAIT], [PARKED])
    late.receives_one_of([WAIT, GRANT], [PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("no_grant_until_it_holds", "NPU-POL-027", "NPU-POL-010")
def no_grant_until_it_holds(context: CaseContext) -> None:
    """What leaves under pressure makes room for nobody, however important, before the reduced budget holds."""
    for press, level in ((heat, ThermalStatus.SEVERE), (shortage, MemoryPressure.LOW)):
        fixture = ManagerFixture(context)
        models = _four(fixture)
        with pressed(fixture, press, level):
            leaving = _weakest_asked(fixture, models)
            wanted = fixture.app(Importance.FOREGROUND).asks(SMALL)
            for model in leaving:
                wanted.receives_one_of([WAIT], [PARKED])
                model.unload()
            wanted.receives_one_of([WAIT], [PARKED])
        wanted.receives_one_of([PARKED, GRANT], [WAIT, GRANT], [PARKED, WAIT, GRANT])


@cases.case("other_pressure_stays", "NPU-POL-027")
def other_pressure_stays(context: CaseContext) -> None:
    """The end of one kind of pressure is not that of another, which goes on: the budget stays below its maximum."""
    kinds = (heat, ThermalStatus.SEVERE), (shortage, MemoryPressure.LOW)
    for lasting, passing in (kinds, kinds[::-1]):
        fixture = ManagerFixture(context)
        models = _four(fixture)
        with pressed(fixture, *lasting):
            with pressed(fixture, *passing):
                fixture.settle()
            asked = _weakest_asked(fixture, models)
            for model in asked:
                model.unload()
            late = [fixture.app(Importance.FOREGROUND).asks(SMALL) for _ in models]
            found = len(models) - len(asked) + _number_granted(fixture, late)
            checks.that(found < len(models), f"small models under pressure: expected less than 4, found {found}")


@cases.case("turn_taking", "NPU-POL-026", "NPU-POL-027")
def turn_taking(context: CaseContext) -> None:
    """The one model that turn taking admits leaves under severe pressure, and none is granted before its end.

    What pressure leaves of one may be one, which ought not to be (NPU-POL-026): then there is nothing to see.
    """
    levels = [*((heat, level) for level in HEAT), *((shortage, level) for level in SHORTAGE)]
    for press, level in levels:
        _judge_the_only_one(ManagerFixture(context, Policy.TURN_TAKING), press, level)


def _judge_the_only_one(fixture: ManagerFixture, press: Press, level: int) -> None:
    held = fixture.app(Importance.VISIBLE).loads(SMALL)
    with pressed(fixture, press, level):
        if not fixture.wait(lambda: UNLOAD in held.received):
            held.receives(GRANT)
            fixture.context.warn_quality(f"pressure {level} leaves all of a budget of 1 (NPU-POL-026)")
            return
        held.receives(GRANT, UNLOAD)
        held.unload()
        late = fixture.app(Importance.FOREGROUND).asks(SMALL)
        late.receives(PARKED)
    late.receives(PARKED, GRANT)


@cases.case("every_budget_shrinks", "NPU-POL-026")
def every_budget_shrinks(context: CaseContext) -> None:
    """Pressure leaves less than all of a budget of two small models as well, and of one that is no power of two."""
    for press, levels in ((heat, HEAT), (shortage, SHORTAGE)):
        for level, most in itertools.product(levels, (2, 3, 5)):
            _judge_some_leave(ManagerFixture(context, parameters=PolicyParameters(most)), press, level, most)


def _judge_some_leave(fixture: ManagerFixture, press: Press, level: int, most: int) -> None:
    app = fixture.app(Importance.CACHED)
    models = [app.loads(SMALL) for _ in range(most)]
    with pressed(fixture, press, level):
        fixture.wait(lambda: bool(_asked(models)))
        checks.that(bool(_asked(models)), f"{most} small models at pressure {level}: expected one asked, found none")


@cases.case("eased", "NPU-LIF-008", "NPU-POL-027")
def eased(context: CaseContext) -> None:
    """Where pressure eases without ending, what comes later is not granted before what was parked and fits as well."""
    for press, levels in ((heat, HEAT), (shortage, SHORTAGE)):
        fixture = ManagerFixture(context, parameters=PolicyParameters(8))
        with pressed(fixture, press, levels[-1]):
            parked = [fixture.app(Importance.VISIBLE).asks(size) for size in (SMALL, MEDIUM, LARGE)]
            for model in parked:
                _decided(fixture, model)
            for level in levels[-2::-1]:
                press(fixture, level)
                fixture.settle()
                _judge_none_is_forgotten(fixture, parked)


def _judge_none_is_forgotten(fixture: ManagerFixture, parked: list[RequestedModel]) -> None:
    """See that no weaker request of its size has a grant that a parked one could have had."""
    for model in parked:
        before = model.received
        late = fixture.app(Importance.CACHED).asks(model.request.size)
        fixture.settle()
        checks.that(
            GRANT not in late.received or _had_a_grant(fixture, model, before),
            f"{model.name} stays parked; a later request of its size of a weaker app: expected no grant, found one",
        )
        late.cancel()


def _had_a_grant(fixture: ManagerFixture, model: RequestedModel, before: list[Notification]) -> bool:
    """True where a request had a grant before; in real time that may still have been on its way."""
    if fixture.context.manifest.virtual_clock:
        return GRANT in before
    return fixture.wait(lambda: GRANT in model.received)


@cases.case("policy_set_meanwhile", "NPU-POL-027", "NPU-LIF-022")
def policy_set_meanwhile(context: CaseContext) -> None:
    """A policy that is set while pressure lasts grants what it grants where it was set before, and no more."""
    for policy in (Policy.BUDGET, Policy.TURN_TAKING):
        for level in HEAT:
            fixture = ManagerFixture(context, policy)
            app = fixture.app(Importance.VISIBLE)
            with pressed(fixture, heat, level):
                expected = [_decision(fixture, app, size) for size in (SMALL, MEDIUM, LARGE)]
                fixture.settings.manager.set_policy(policy, None)
                found = [_decision(fixture, app, size) for size in (SMALL, MEDIUM, LARGE)]
            checks.equal(found, expected, f"decisions of {policy.name}, set at thermal status {level}")


@cases.case("gates_after_status_quo", "NPU-POL-027")
def gates_after_status_quo(context: CaseContext) -> None:
    """Pressure that came under status quo counts for the budget that is set while it lasts."""
    for press, levels in ((heat, HEAT), (shortage, SHORTAGE)):
        for level in levels:
            fixture = ManagerFixture(context, Policy.STATUS_QUO)
            app = fixture.app(Importance.VISIBLE)
            with pressed(fixture, press, level):
                fixture.settings.manager.set_policy(Policy.BUDGET, None)
                found = _number_granted(fixture, [app.asks(SMALL) for _ in range(4)])
                checks.that(found < 4, f"small models granted at pressure {level}: expected less than 4, found 4")


def _decision(fixture: ManagerFixture, app: ClientApp, size: int) -> list[Notification]:
    """What a request alone receives, before it is cancelled."""
    model = app.asks(size)
    found = _decided(fixture, model)
    model.cancel()
    return found


@cases.case("pending_leaves_too", "NPU-POL-026", "NPU-POL-027", "NPU-LIF-016")
def pending_leaves_too(context: CaseContext) -> None:
    """What is granted and not loaded gives way without being asked to unload: it is cancelled or parked."""
    fixture = ManagerFixture(context)
    pending = fixture.app(Importance.CACHED).granted(LARGE)
    with pressed(fixture, heat, ThermalStatus.CRITICAL):
        pending.receives_one_of([GRANT, CANCELLED], [GRANT, PARKED])


@cases.case("heavier_than_what_is_left", "NPU-POL-027", "NPU-POL-011")
def heavier_than_what_is_left(context: CaseContext) -> None:
    """A request that the reduced budget could never hold is parked while the pressure lasts, and granted afterwards."""
    fixture = ManagerFixture(context)
    with pressed(fixture, shortage, MemoryPressure.CRITICAL):
        late = fixture.app(Importance.FOREGROUND).asks(LARGE)
        late.receives(PARKED)
    late.receives(PARKED, GRANT)


@cases.case("light_pressure", "NPU-POL-026", "NPU-POL-027")
def light_pressure(context: CaseContext) -> None:
    """Light heat and moderate shortage may cost models or not: a model that is not asked stays loaded, undisturbed."""
    fixture = ManagerFixture(context)
    models = _four(fixture)
    for press, level in ((heat, ThermalStatus.LIGHT), (shortage, MemoryPressure.MODERATE)):
        with pressed(fixture, press, level):
            fixture.settle()
    asked = _asked(models)
    for model in asked:
        model.unload()
        model.receives(GRANT, UNLOAD, COMPLETE)
    for model in models:
        if model not in asked:
            model.receives_one_of(*_still_asked(fixture, [GRANT], [GRANT, UNLOAD]))


@cases.case("status_quo_gates_nothing", "NPU-POL-003")
def status_quo_gates_nothing(context: CaseContext) -> None:
    """Under status quo neither heat nor lack of memory asks for an unload, and everything is granted."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    held = fixture.app(Importance.CACHED).loads(LARGE)
    for press, level in ((heat, ThermalStatus.SHUTDOWN), (shortage, MemoryPressure.CRITICAL)):
        with pressed(fixture, press, level):
            fixture.app(Importance.CACHED).granted(LARGE)
            held.receives(GRANT)


def _four(fixture: ManagerFixture) -> list[RequestedModel]:
    """Four small models that fill the budget, the strongest app's first."""
    return [fixture.app(importance).loads(SMALL) for importance in _STRONGEST_FIRST]


def _asked(models: list[RequestedModel]) -> list[RequestedModel]:
    return [model for model in models if UNLOAD in model.received]


def _weakest_asked(fixture: ManagerFixture, models: list[RequestedModel]) -> list[RequestedModel]:
    """The models that have been asked to unload, which are the weakest holders'; in real time more may follow."""
    fixture.wait(lambda: bool(_asked(models)) and _asked(models) == models[-len(_asked(models)) :])
    asked = _asked(models)
    checks.that(bool(asked), "expected an unload request under pressure, found none")
    checks.equal([model.name for model in asked], [model.name for model in models[-len(asked) :]], "models asked")
    return asked


def _number_granted(fixture: ManagerFixture, models: list[RequestedModel]) -> int:
    """How many of these are granted, once each has an answer."""
    fixture.wait(lambda: all(model.received for model in models))
    return sum(GRANT in model.received for model in models)


def _still_asked(
    fixture: ManagerFixture, expected: list[Notification], *others: list[Notification]
) -> tuple[list[Notification], ...]:
    """What a request may receive: in real time also what it does while an unload request is on its way."""
    return (expected,) if fixture.context.manifest.virtual_clock else (expected, *others)


def _judge_weakest_first(fixture: ManagerFixture, press: Press, level: int, reason: UnloadReason) -> None:
    models = _four(fixture)
    with pressed(fixture, press, level):
        asked = _weakest_asked(fixture, models)
        for model in asked:
            model.receives(GRANT, UNLOAD)
            model.asked_because(reason)
            model.unload()
            model.receives(GRANT, UNLOAD, COMPLETE)
        for model in models[: -len(asked)]:
            model.receives_one_of(*_still_asked(fixture, [GRANT], [GRANT, UNLOAD]))
        _weakest_asked(fixture, models)


def _decided(fixture: ManagerFixture, model: RequestedModel) -> list[Notification]:
    """What a request has received, which is a decision at least (NPU-LIF-005)."""
    fixture.wait(lambda: bool(model.received))
    checks.that(bool(model.received), f"{model.name}: expected a decision, found none")
    return model.received
