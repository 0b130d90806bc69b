"""The budget policy: what fits, which app makes room for which, and in what order room is given."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, opportunistic_of
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, ModelPriority, Policy, PolicyParameters

cases = CaseGroup("cts.npu_manager.budget", interface="manager", group=Group.MANAGER_POLICIES)

FOREGROUND, VISIBLE = Importance.FOREGROUND, Importance.VISIBLE
SERVICE, CACHED = Importance.SERVICE, Importance.CACHED


@cases.case("default_weights", "NPU-POL-005", "NPU-POL-006", "NPU-POL-010")
def default_weights(context: CaseContext) -> None:
    """By default one large model fits, or two medium, or one medium and two small, or four small; and no more."""
    for sizes in ((LARGE,), (MEDIUM, MEDIUM), (MEDIUM, SMALL, SMALL), (SMALL,) * 4):
        for model in _filled(context, None, *sizes):
            model.receives(GRANT)


@cases.case("two_large_of_eight", "NPU-POL-010")
def two_large_of_eight(context: CaseContext) -> None:
    """CTS sufficientBudgetForTwo: a maximum of 8 has room for two large models; neither is asked to unload."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(max_budget=8))
    held, another = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).loads(LARGE)
    another.receives(GRANT)
    held.receives(GRANT)


@cases.case("heavier_than_maximum", "NPU-POL-011", "NPU-POL-029")
def heavier_than_maximum(context: CaseContext) -> None:
    """CTS insufficientBudget: what is heavier than the maximum is parked, and stays so when all capacity is free."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(max_budget=3))
    app, other = fixture.app(FOREGROUND), fixture.app(CACHED)
    held, heavy = other.loads(MEDIUM), app.asks(LARGE)
    heavy.receives(PARKED)
    held.receives(GRANT)
    held.unload()
    heavy.receives(PARKED)
    other.loads(MEDIUM).receives(GRANT)


@cases.case("custom_weights_fit", "NPU-POL-009", "NPU-POL-010")
def custom_weights_fit(context: CaseContext) -> None:
    """CTS customWeights_fitsBudget: a large model of weight 2 fits 3, and leaves room for a small one."""
    _filled(context, PolicyParameters(3, {"2": 2}), LARGE, SMALL)


@cases.case("custom_weights_exceed", "NPU-POL-009", "NPU-POL-011", "NPU-POL-029")
def custom_weights_exceed(context: CaseContext) -> None:
    """CTS customWeights_exceedsBudget: a large model of weight 6 does not fit 5; the other sizes keep their weights."""
    app = ManagerFixture(context, parameters=PolicyParameters(5, {"2": 6})).app()
    app.asks(LARGE).receives(PARKED)
    app.loads(MEDIUM)
    app.loads(MEDIUM)
    app.loads(SMALL)
    app.asks(SMALL).receives(PARKED)


@cases.case("smallest_numbers", "NPU-POL-008", "NPU-POL-007", "NPU-POL-010")
def smallest_numbers(context: CaseContext) -> None:
    """A maximum of 1 and weights of 1 are legal: one model fits, of whichever size."""
    for size in (SMALL, MEDIUM, LARGE):
        (held,) = _filled(context, PolicyParameters(1, {"0": 1, "1": 1, "2": 1}), size)
        held.receives(GRANT)


@cases.case("largest_numbers", "NPU-POL-007", "NPU-POL-008", "NPU-POL-010")
def largest_numbers(context: CaseContext) -> None:
    """A maximum and weights of the largest 32-bit integer are legal, alone and together, and no sum of them wraps."""
    largest = 2**31 - 1
    _filled(context, PolicyParameters(largest, {"2": largest}), LARGE)
    with checks.about("NPU-POL-006", "NPU-POL-008"):
        _filled(context, PolicyParameters(None, {"0": largest, "1": largest, "2": largest}), SMALL)
    _filled(context, PolicyParameters(largest, {"0": largest - 1, "1": 1, "2": largest}), SMALL, MEDIUM)
    app = ManagerFixture(context, parameters=PolicyParameters(largest)).app()
    app.loads(LARGE)
    app.loads(LARGE)


@cases.case("maximum_follows_largest_class", "NPU-POL-006", "NPU-POL-029")
def maximum_follows_largest_class(context: CaseContext) -> None:
    """Without a maximum it is the weight of the largest class, as overridden; not that of the heaviest."""
    _filled(context, PolicyParameters(None, {"2": 6}), MEDIUM, MEDIUM, MEDIUM)
    app = ManagerFixture(context, parameters=PolicyParameters(None, {"0": 9})).app()
    app.asks(SMALL).receives(PARKED)
    app.loads(LARGE).receives(GRANT)


@cases.case("unknown_weight_keys", "NPU-POL-009")
def unknown_weight_keys(context: CaseContext) -> None:
    """Keys that name no size class are ignored, and so is what they say: a class has one spelling."""
    _filled(context, PolicyParameters(None, {"3": 9, "-1": 2, "large": 7}), LARGE)
    for spelled in ("02", "+2", " 2", "2 ", "2.0", "0x2", "-2", ""):
        _filled(context, PolicyParameters(None, {spelled: 2}), LARGE)
    for spelled in ("01", "+1", "1 "):
        _filled(context, PolicyParameters(4, {spelled: 1}), MEDIUM, MEDIUM)


@cases.case("own_models", "NPU-POL-016")
def own_models(context: CaseContext) -> None:
    """CTS multipleModelsWaiting: an app's further requests are parked, not cancelled; an unload grants one."""
    app = ManagerFixture(context).app()
    held, second, third = app.loads(LARGE), app.asks(LARGE), app.asks(LARGE)
    second.receives(PARKED)
    third.receives(PARKED)
    held.receives(GRANT)
    held.unload()
    held.receives(GRANT, COMPLETE)
    app.fixture.wait(lambda: GRANT in second.received + third.received)
    both = [second.received, third.received]
    checks.member(both, ([[PARKED, GRANT], [PARKED]], [[PARKED], [PARKED, GRANT]]), "callbacks of the parked requests")


@cases.case("own_granted_model", "NPU-POL-016", "NPU-POL-010")
def own_granted_model(context: CaseContext) -> None:
    """An app's further request does not displace its own that is granted and not loaded yet."""
    app = ManagerFixture(context).app()
    first, second = app.granted(LARGE), app.asks(LARGE)
    second.receives(PARKED)
    first.receives(GRANT)


@cases.case("grant_holds_budget", "NPU-POL-012", "NPU-POL-010")
def grant_holds_budget(context: CaseContext) -> None:
    """CTS multipleAppsRequesting: what is granted holds its budget against a background app before it is loaded."""
    fixture = ManagerFixture(context)
    pending, parked = fixture.app(FOREGROUND).granted(LARGE), fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    pending.receives(GRANT)
    pending.load()
    parked.receives(PARKED)


@cases.case("least_important_first", "NPU-POL-013", "NPU-POL-020")
def least_important_first(context: CaseContext) -> None:
    """Where one of two models is enough, the less important one's owner is asked to unload, the other is not."""
    fixture = ManagerFixture(context)
    middle, weak = fixture.app(VISIBLE).loads(MEDIUM), fixture.app(CACHED).loads(MEDIUM)
    wanted = fixture.app(FOREGROUND).asks(MEDIUM)
    wanted.receives(WAIT)
    weak.receives(GRANT, UNLOAD)
    middle.receives(GRANT)
    weak.unload()
    wanted.receives(WAIT, GRANT)
    middle.receives(GRANT)


@cases.case("as_many_as_needed", "NPU-POL-013", "NPU-POL-020", "NPU-POL-010")
def as_many_as_needed(context: CaseContext) -> None:
    """Where one model is not enough the next is asked too, and the request waits until all are gone."""
    fixture = ManagerFixture(context)
    strong = fixture.app(VISIBLE).loads(SMALL)
    middle, weak = fixture.app(SERVICE).loads(MEDIUM), fixture.app(CACHED).loads(SMALL)
    wanted = fixture.app(FOREGROUND).asks(MEDIUM)
    wanted.receives(WAIT)
    weak.receives(GRANT, UNLOAD)
    middle.receives(GRANT, UNLOAD)
    strong.receives(GRANT)
    weak.unload()
    wanted.receives(WAIT)
    middle.unload()
    wanted.receives(WAIT, GRANT)
    strong.receives(GRANT)


@cases.case("free_capacity_counts", "NPU-POL-020", "NPU-POL-010")
def free_capacity_counts(context: CaseContext) -> None:
    """Capacity that is free already counts: a request that fits disturbs no other model."""
    fixture = ManagerFixture(context)
    held = fixture.app(CACHED).loads(MEDIUM)
    fixture.app(FOREGROUND).loads(MEDIUM)
    held.receives(GRANT)


@cases.case("loaded_and_granted_victims", "NPU-POL-013", "NPU-POL-014", "NPU-LIF-016")
def loaded_and_granted_victims(context: CaseContext) -> None:
    """Where a request needs the room of a loaded and of a granted model, the one is asked and the other cancelled."""
    fixture = ManagerFixture(context)
    loaded, pending = fixture.app(CACHED).loads(MEDIUM), fixture.app(SERVICE).granted(MEDIUM)
    wanted = fixture.app(FOREGROUND).asks(LARGE)
    wanted.receives(WAIT)
    loaded.receives(GRANT, UNLOAD)
    pending.receives(GRANT, CANCELLED)
    loaded.unload()
    wanted.receives(WAIT, GRANT)


@cases.case("remainder_of_a_victim", "NPU-POL-021", "NPU-POL-014", "NPU-LIF-008")
def remainder_of_a_victim(context: CaseContext) -> None:
    """What a displaced model leaves beyond the need of the stronger one goes to whoever waits for it."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(2))
    pending = fixture.app(SERVICE).granted(MEDIUM)
    parked = fixture.app(CACHED).asks(SMALL)
    parked.receives(PARKED)
    wanted = fixture.app(FOREGROUND).asks(SMALL)
    pending.receives(GRANT, CANCELLED)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("free_room_set_aside", "NPU-POL-014", "NPU-LIF-007", "NPU-POL-010")
def free_room_set_aside(context: CaseContext) -> None:
    """Free room that was meant for a waiting request of a weaker app serves a stronger one that it suffices for."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(5))
    middle, weak = fixture.app(SERVICE).loads(LARGE), fixture.app(CACHED).loads(SMALL)
    waiting = fixture.app(VISIBLE).asks(MEDIUM)
    waiting.receives(WAIT)
    weak.receives(GRANT, UNLOAD)
    middle.receives(GRANT, UNLOAD)
    weak.unload()
    waiting.receives(WAIT)
    wanted = fixture.app(FOREGROUND).asks(SMALL)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    waiting.receives_one_of([WAIT], [WAIT, CANCELLED], [WAIT, PARKED])
    middle.unload()
    waiting.receives_one_of([WAIT, GRANT], [WAIT, CANCELLED], [WAIT, PARKED, GRANT])
    wanted.receives_one_of([GRANT], [WAIT, GRANT])


@cases.case("more_important_stays", "NPU-POL-015", "NPU-POL-020")
def more_important_stays(context: CaseContext) -> None:
    """Where the less important ones would not make enough room, no model is displaced."""
    fixture = ManagerFixture(context)
    strong, weak = fixture.app(FOREGROUND).loads(MEDIUM), fixture.app(CACHED).loads(MEDIUM)
    fixture.app(VISIBLE).asks(LARGE).receives(PARKED)
    strong.receives(GRANT)
    weak.receives(GRANT)


@cases.case("equals_stay", "NPU-POL-017")
def equals_stay(context: CaseContext) -> None:
    """Between apps of one importance that have done no work, a request displaces nothing, loaded or granted."""
    fixture = ManagerFixture(context)
    held, pending = fixture.app(VISIBLE).loads(MEDIUM), fixture.app(VISIBLE).granted(MEDIUM)
    fixture.app(VISIBLE).asks(LARGE).receives(PARKED)
    held.receives(GRANT)
    pending.receives(GRANT)


@cases.case("importance_not_priority", "NPU-POL-015", "NPU-PRI-002", "NPU-POL-025")
def importance_not_priority(context: CaseContext) -> None:
    """The app's importance comes before the request's priority: a normal request of a cached app displaces nothing."""
    fixture = ManagerFixture(context)
    held = fixture.app(FOREGROUND).loads(LARGE, ModelPriority.BACKGROUND)
    fixture.app(CACHED).asks(LARGE, ModelPriority.NORMAL).receives(PARKED)
    held.receives(GRANT)


@cases.case("most_important_next", "NPU-POL-021", "NPU-LIF-008")
def most_important_next(context: CaseContext) -> None:
    """Of several parked requests that fit, the most important app's is granted, whenever it came."""
    for order in ((VISIBLE, CACHED), (CACHED, VISIBLE)):
        fixture = ManagerFixture(context)
        held = fixture.app(FOREGROUND).loads(LARGE)
        parked = {importance: fixture.app(importance).asks(LARGE) for importance in order}
        for model in parked.values():
            model.receives(PARKED)
        held.unload()
        parked[VISIBLE].receives(PARKED, GRANT)
        parked[CACHED].receives(PARKED)


@cases.case("next_that_fits", "NPU-POL-021", "NPU-POL-011", "NPU-POL-024")
def next_that_fits(context: CaseContext) -> None:
    """A parked request heavier than the maximum does not keep what fits from being granted."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(3))
    holder, strong, weak = fixture.app(FOREGROUND), fixture.app(VISIBLE), fixture.app(CACHED)
    held, heavy, light = holder.loads(MEDIUM), strong.asks(LARGE), weak.asks(MEDIUM)
    heavy.receives(PARKED)
    light.receives(PARKED)
    held.unload()
    light.receives(PARKED, GRANT)
    heavy.receives(PARKED)


@cases.case("room_for_the_smaller", "NPU-POL-024", "NPU-POL-010", "NPU-LIF-005")
def room_for_the_smaller(context: CaseContext) -> None:
    """A small, less important request beside a parked large one may be granted or parked; it is answered."""
    fixture = ManagerFixture(context)
    held = fixture.app(FOREGROUND).loads(MEDIUM)
    parked = fixture.app(VISIBLE).asks(LARGE)
    parked.receives(PARKED)
    small = fixture.app(CACHED).asks(SMALL)
    small.receives_one_of([GRANT], [PARKED])
    held.unload()
    parked.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("parked_take_no_budget", "NPU-POL-028", "NPU-LIF-005")
def parked_take_no_budget(context: CaseContext) -> None:
    """A parked request ought not to count as used: a more important one that fits is answered, and best granted."""
    fixture = ManagerFixture(context)
    held = fixture.app(FOREGROUND).loads(MEDIUM)
    parked = fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    fitting = fixture.app(VISIBLE).asks(MEDIUM)
    fitting.receives_one_of([GRANT], [WAIT, GRANT], [PARKED, GRANT], [PARKED], [WAIT])
    if not fixture.wait(lambda: GRANT in fitting.received):
        context.warn_quality(
            "a parked request counts as used budget: what would fit beside the loaded models is rejected"
        )
    held.receives(GRANT)


@cases.case("every_request_answered", "NPU-LIF-005")
def every_request_answered(context: CaseContext) -> None:
    """A request is answered whatever stands in its way, also where only parked requests do."""
    fixture = ManagerFixture(context)
    fixture.app(FOREGROUND).loads(MEDIUM)
    weak = fixture.app(CACHED)
    for size in (LARGE, LARGE, MEDIUM, SMALL):
        weak.asks(size).is_answered()
    fixture.app(VISIBLE).asks(LARGE).is_answered()


@cases.case("priority_within_an_app", "NPU-POL-025", "NPU-REQ-004")
def priority_within_an_app(context: CaseContext) -> None:
    """Of one app's parked requests the normal one ought to be granted before background, that before opportunistic."""
    opportunistic = opportunistic_of(context)
    fixture = ManagerFixture(context)
    app = fixture.app()
    held = app.loads(LARGE)
    weakest_first = (opportunistic, ModelPriority.BACKGROUND, ModelPriority.NORMAL)
    waiting = [app.asks(LARGE, priority) for priority in weakest_first]
    served = []
    for _ in range(len(waiting)):
        held.unload()
        fixture.wait(lambda: any(GRANT in model.received for model in waiting if model not in served))
        granted = [model for model in waiting if GRANT in model.received and model not in served]
        checks.equal(len(granted), 1, "requests granted after one large model was unloaded")
        held = granted[0]
        held.load()
        served.append(held)
    if served != waiting[::-1]:
        ranks = ", ".join(str(model.request.priority) for model in served)
        context.warn_quality(f"requests of one app served in the order of priorities {ranks}")


@cases.case("opportunistic_does_not_outrank", "NPU-REQ-004")
def opportunistic_does_not_outrank(context: CaseContext) -> None:
    """An opportunistic request is accepted, and is not preferred to a normal one that was there before it."""
    opportunistic = opportunistic_of(context)
    checks.that(
        opportunistic not in (ModelPriority.NORMAL, ModelPriority.BACKGROUND),
        f"expected an opportunistic priority of its own, found {opportunistic}",
    )
    app = ManagerFixture(context).app()
    held = app.loads(LARGE)
    normal, weak = app.asks(LARGE, ModelPriority.NORMAL), app.asks(LARGE, opportunistic)
    normal.receives(PARKED)
    weak.receives(PARKED)
    held.unload()
    normal.receives(PARKED, GRANT)
    weak.receives(PARKED)


@cases.case("turns_by_one", "NPU-POL-004")
def turns_by_one(context: CaseContext) -> None:
    """Turn taking has room for one model in the whole system, whatever its size and whoever's."""
    for size in (SMALL, MEDIUM, LARGE):
        fixture = ManagerFixture(context, Policy.TURN_TAKING)
        app, weak = fixture.app(FOREGROUND), fixture.app(CACHED)
        held = app.loads(size)
        own, foreign = app.asks(SMALL), weak.asks(SMALL)
        own.receives(PARKED)
        foreign.receives(PARKED)
        held.receives(GRANT)
        own.cancel()
        held.unload()
        foreign.receives(PARKED, GRANT)


@cases.case("turns_to_the_foreground", "NPU-POL-013", "NPU-POL-004", "NPU-LIF-012")
def turns_to_the_foreground(context: CaseContext) -> None:
    """CTS turnTakingPolicy: the background model is asked to unload, the foreground is granted, loads and cancels."""
    fixture = ManagerFixture(context, Policy.TURN_TAKING)
    held, wanted = fixture.app(CACHED).loads(SMALL), fixture.app(FOREGROUND).asks(SMALL, 100)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    held.unload()
    wanted.receives(WAIT, GRANT)
    wanted.load()
    wanted.cancel()
    with checks.about("NPU-LIF-012"):
        wanted.receives(WAIT, GRANT, CANCELLED)


def _filled(context: CaseContext, parameters: PolicyParameters | None, *sizes: int) -> list[RequestedModel]:
    """One app's models of these sizes, which fit the budget, and leave room for no small one."""
    app = ManagerFixture(context, parameters=parameters).app()
    models = [app.loads(size) for size in sizes]
    app.asks(SMALL).receives(PARKED)
    return models
