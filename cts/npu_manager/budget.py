"""The budget policy: what fits, who has to make room for whom, and in what order room is given."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, Model, Scene
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, ModelPriority, Policy, PolicyParameters

cases = CaseGroup("cts.npu_manager.budget", interface="manager", group=Group.MANAGER_POLICIES)

FOREGROUND, VISIBLE, SERVICE, CACHED = (
    Importance.FOREGROUND, Importance.VISIBLE, Importance.SERVICE, Importance.CACHED,
)  # fmt: skip


@cases.case("default_weights", "NPU-POL-005", "NPU-POL-006", "NPU-POL-010")
def default_weights(context: CaseContext) -> None:
    """By default one large model fits, or two medium, or one medium and two small, or four small; and no more."""
    for sizes in ((LARGE,), (MEDIUM, MEDIUM), (MEDIUM, SMALL, SMALL), (SMALL,) * 4):
        app = Scene(context).app()
        models = [app.loads(size) for size in sizes]
        app.asks(SMALL).hears(PARKED)
        for model in models:
            model.hears(GRANT)


@cases.case("two_large_of_eight", "NPU-POL-010")
def two_large_of_eight(context: CaseContext) -> None:
    """CTS sufficientBudgetForTwo: a maximum of 8 has room for two large models; neither is asked to unload."""
    scene = Scene(context, parameters=PolicyParameters(max_budget=8))
    held, another = scene.app(CACHED).loads(LARGE), scene.app(FOREGROUND).loads(LARGE)
    another.hears(GRANT)
    held.hears(GRANT)


@cases.case("heavier_than_maximum", "NPU-POL-011")
def heavier_than_maximum(context: CaseContext) -> None:
    """CTS insufficientBudget: what is heavier than the maximum is parked, and stays so when all capacity is free."""
    scene = Scene(context, parameters=PolicyParameters(max_budget=3))
    app, other = scene.app(FOREGROUND), scene.app(CACHED)
    held, heavy = other.loads(MEDIUM), app.asks(LARGE)
    heavy.hears(PARKED)
    held.hears(GRANT)
    held.unload()
    heavy.hears(PARKED)
    other.loads(MEDIUM).hears(GRANT)


@cases.case("custom_weights_fit", "NPU-POL-009", "NPU-POL-010")
def custom_weights_fit(context: CaseContext) -> None:
    """CTS customWeights_fitsBudget: a large model of weight 2 fits 3, and leaves room for a small one."""
    app = Scene(context, parameters=PolicyParameters(3, {"2": 2})).app()
    app.loads(LARGE)
    app.loads(SMALL)
    app.asks(SMALL).hears(PARKED)


@cases.case("custom_weights_exceed", "NPU-POL-009", "NPU-POL-011")
def custom_weights_exceed(context: CaseContext) -> None:
    """CTS customWeights_exceedsBudget: a large model of weight 6 does not fit 5; the other sizes keep their weights."""
    app = Scene(context, parameters=PolicyParameters(5, {"2": 6})).app()
    app.asks(LARGE).hears(PARKED)
    app.loads(MEDIUM)
    app.loads(MEDIUM)
    app.loads(SMALL)
    app.asks(SMALL).hears(PARKED)


@cases.case("smallest_numbers", "NPU-POL-007", "NPU-POL-008", "NPU-POL-010")
def smallest_numbers(context: CaseContext) -> None:
    """A maximum of 1 and weights of 1 are legal: one model fits, of whichever size."""
    for size in (SMALL, MEDIUM, LARGE):
        app = Scene(context, parameters=PolicyParameters(1, {"0": 1, "1": 1, "2": 1})).app()
        app.loads(size).hears(GRANT)
        app.asks(SMALL).hears(PARKED)


@cases.case("maximum_follows_largest_class", "NPU-POL-006")
def maximum_follows_largest_class(context: CaseContext) -> None:
    """Without a maximum it is the weight of the largest class, as overridden; not that of the heaviest."""
    app = Scene(context, parameters=PolicyParameters(None, {"2": 6})).app()
    for _ in range(3):
        app.loads(MEDIUM)
    app.asks(SMALL).hears(PARKED)
    app = Scene(context, parameters=PolicyParameters(None, {"0": 9})).app()
    app.asks(SMALL).hears(PARKED)
    app.loads(LARGE).hears(GRANT)


@cases.case("unknown_weight_keys", "NPU-POL-009")
def unknown_weight_keys(context: CaseContext) -> None:
    """Keys that name no size class are ignored, and so is what they say."""
    app = Scene(context, parameters=PolicyParameters(None, {"3": 9, "-1": 2, "large": 7})).app()
    app.loads(LARGE)
    app.asks(SMALL).hears(PARKED)


@cases.case("own_models", "NPU-POL-016")
def own_models(context: CaseContext) -> None:
    """CTS multipleModelsWaiting: an app's further requests are parked, not cancelled; an unload grants one."""
    app = Scene(context).app()
    held, second, third = app.loads(LARGE), app.asks(LARGE), app.asks(LARGE)
    second.hears(PARKED)
    third.hears(PARKED)
    held.hears(GRANT)
    held.unload()
    held.hears(GRANT, COMPLETE)
    app.scene.wait(lambda: GRANT in second.heard + third.heard)
    both = [second.heard, third.heard]
    checks.member(both, ([[PARKED, GRANT], [PARKED]], [[PARKED], [PARKED, GRANT]]), "callbacks of the parked requests")


@cases.case("own_granted_model", "NPU-POL-016", "NPU-POL-010")
def own_granted_model(context: CaseContext) -> None:
    """Nor does an app's further request displace its own that is granted and not loaded yet."""
    app = Scene(context).app()
    first, second = app.granted(LARGE), app.asks(LARGE)
    second.hears(PARKED)
    first.hears(GRANT)


@cases.case("grant_holds_budget", "NPU-POL-012", "NPU-POL-010")
def grant_holds_budget(context: CaseContext) -> None:
    """CTS multipleAppsRequesting: what is granted holds its budget against a background app before it is loaded."""
    scene = Scene(context)
    pending, parked = scene.app(FOREGROUND).granted(LARGE), scene.app(CACHED).asks(LARGE)
    parked.hears(PARKED)
    pending.hears(GRANT)
    pending.load()
    parked.hears(PARKED)


@cases.case("least_important_first", "NPU-POL-013", "NPU-POL-020")
def least_important_first(context: CaseContext) -> None:
    """One of two models is enough: the less important one's owner is asked to unload, the other hears nothing."""
    scene = Scene(context)
    middle, weak = scene.app(VISIBLE).loads(MEDIUM), scene.app(CACHED).loads(MEDIUM)
    wanted = scene.app(FOREGROUND).asks(MEDIUM)
    wanted.hears(WAIT)
    weak.hears(GRANT, UNLOAD)
    middle.hears(GRANT)
    weak.unload()
    wanted.hears(WAIT, GRANT)
    middle.hears(GRANT)


@cases.case("as_many_as_needed", "NPU-POL-013", "NPU-POL-020", "NPU-POL-010")
def as_many_as_needed(context: CaseContext) -> None:
    """Where one is not enough the next is asked too, and the request waits until all are gone."""
    scene = Scene(context)
    strong = scene.app(VISIBLE).loads(SMALL)
    middle, weak = scene.app(SERVICE).loads(MEDIUM), scene.app(CACHED).loads(SMALL)
    wanted = scene.app(FOREGROUND).asks(MEDIUM)
    wanted.hears(WAIT)
    weak.hears(GRANT, UNLOAD)
    middle.hears(GRANT, UNLOAD)
    strong.hears(GRANT)
    weak.unload()
    wanted.hears(WAIT)
    middle.unload()
    wanted.hears(WAIT, GRANT)
    strong.hears(GRANT)


@cases.case("free_capacity_counts", "NPU-POL-020", "NPU-POL-010")
def free_capacity_counts(context: CaseContext) -> None:
    """What is free already need not be made free: nobody is disturbed by a request that fits."""
    scene = Scene(context)
    held = scene.app(CACHED).loads(MEDIUM)
    scene.app(FOREGROUND).loads(MEDIUM)
    held.hears(GRANT)


@cases.case("loaded_and_granted_victims", "NPU-POL-013", "NPU-POL-014", "NPU-LIF-016")
def loaded_and_granted_victims(context: CaseContext) -> None:
    """A request that needs both room of a loaded and of a granted model asks the one and cancels the other."""
    scene = Scene(context)
    loaded, pending = scene.app(CACHED).loads(MEDIUM), scene.app(SERVICE).granted(MEDIUM)
    wanted = scene.app(FOREGROUND).asks(LARGE)
    wanted.hears(WAIT)
    loaded.hears(GRANT, UNLOAD)
    pending.hears(GRANT, CANCELLED)
    loaded.unload()
    wanted.hears(WAIT, GRANT)


@cases.case("remainder_of_a_victim", "NPU-POL-014", "NPU-POL-021", "NPU-LIF-008")
def remainder_of_a_victim(context: CaseContext) -> None:
    """What a displaced model leaves beyond the need of the stronger one goes to who waits for it."""
    scene = Scene(context, parameters=PolicyParameters(2))
    pending = scene.app(SERVICE).granted(MEDIUM)
    parked = scene.app(CACHED).asks(SMALL)
    parked.hears(PARKED)
    wanted = scene.app(FOREGROUND).asks(SMALL)
    pending.hears(GRANT, CANCELLED)
    wanted.hears_one_of([GRANT], [WAIT, GRANT])
    parked.hears_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("free_room_set_aside", "NPU-POL-014", "NPU-LIF-007", "NPU-POL-010")
def free_room_set_aside(context: CaseContext) -> None:
    """Free room that was meant for a waiting request of a weaker app serves a stronger one that it suffices for."""
    scene = Scene(context, parameters=PolicyParameters(5))
    middle, weak = scene.app(SERVICE).loads(LARGE), scene.app(CACHED).loads(SMALL)
    waiting = scene.app(VISIBLE).asks(MEDIUM)
    waiting.hears(WAIT)
    weak.hears(GRANT, UNLOAD)
    middle.hears(GRANT, UNLOAD)
    weak.unload()
    waiting.hears(WAIT)
    wanted = scene.app(FOREGROUND).asks(SMALL)
    wanted.hears_one_of([GRANT], [WAIT, GRANT])
    waiting.hears_one_of([WAIT], [WAIT, CANCELLED], [WAIT, PARKED])
    middle.unload()
    waiting.hears_one_of([WAIT, GRANT], [WAIT, CANCELLED], [WAIT, PARKED, GRANT])
    wanted.hears_one_of([GRANT], [WAIT, GRANT])


@cases.case("more_important_stays", "NPU-POL-015", "NPU-POL-020")
def more_important_stays(context: CaseContext) -> None:
    """Where the less important ones would not make room enough, nobody is displaced in vain."""
    scene = Scene(context)
    strong, weak = scene.app(FOREGROUND).loads(MEDIUM), scene.app(CACHED).loads(MEDIUM)
    scene.app(VISIBLE).asks(LARGE).hears(PARKED)
    strong.hears(GRANT)
    weak.hears(GRANT)


@cases.case("equals_stay", "NPU-POL-017")
def equals_stay(context: CaseContext) -> None:
    """Between apps of one importance that have done no work, a request displaces nothing, loaded or granted."""
    scene = Scene(context)
    held, pending = scene.app(VISIBLE).loads(MEDIUM), scene.app(VISIBLE).granted(MEDIUM)
    scene.app(VISIBLE).asks(LARGE).hears(PARKED)
    held.hears(GRANT)
    pending.hears(GRANT)


@cases.case("importance_not_priority", "NPU-POL-015", "NPU-PRI-002", "NPU-POL-025")
def importance_not_priority(context: CaseContext) -> None:
    """The app's importance comes before the request's priority: a normal request of a cached app displaces nothing."""
    scene = Scene(context)
    held = scene.app(FOREGROUND).loads(LARGE, ModelPriority.BACKGROUND)
    scene.app(CACHED).asks(LARGE, ModelPriority.NORMAL).hears(PARKED)
    held.hears(GRANT)


@cases.case("most_important_next", "NPU-POL-021", "NPU-LIF-008")
def most_important_next(context: CaseContext) -> None:
    """Of several parked requests that fit, the most important app's is granted, whenever it came."""
    for order in ((VISIBLE, CACHED), (CACHED, VISIBLE)):
        scene = Scene(context)
        held = scene.app(FOREGROUND).loads(LARGE)
        parked = {importance: scene.app(importance).asks(LARGE) for importance in order}
        for model in parked.values():
            model.hears(PARKED)
        held.unload()
        parked[VISIBLE].hears(PARKED, GRANT)
        parked[CACHED].hears(PARKED)


@cases.case("next_that_fits", "NPU-POL-021", "NPU-POL-011", "NPU-POL-024")
def next_that_fits(context: CaseContext) -> None:
    """A parked request heavier than the maximum does not keep what fits from being granted."""
    scene = Scene(context, parameters=PolicyParameters(3))
    holder, strong, weak = scene.app(FOREGROUND), scene.app(VISIBLE), scene.app(CACHED)
    held, heavy, light = holder.loads(MEDIUM), strong.asks(LARGE), weak.asks(MEDIUM)
    heavy.hears(PARKED)
    light.hears(PARKED)
    held.unload()
    light.hears(PARKED, GRANT)
    heavy.hears(PARKED)


@cases.case("room_for_the_smaller", "NPU-POL-024", "NPU-POL-010", "NPU-LIF-005")
def room_for_the_smaller(context: CaseContext) -> None:
    """A small, less important request beside a parked large one is granted or parked: a freedom; it is answered."""
    scene = Scene(context)
    held = scene.app(FOREGROUND).loads(MEDIUM)
    parked = scene.app(VISIBLE).asks(LARGE)
    parked.hears(PARKED)
    small = scene.app(CACHED).asks(SMALL)
    small.hears_one_of([GRANT], [PARKED])
    held.unload()
    parked.hears_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("parked_take_no_budget", "NPU-POL-028", "NPU-LIF-005")
def parked_take_no_budget(context: CaseContext) -> None:
    """A parked request ought not to count as used: a more important one that fits is answered, and best granted."""
    scene = Scene(context)
    held = scene.app(FOREGROUND).loads(MEDIUM)
    parked = scene.app(CACHED).asks(LARGE)
    parked.hears(PARKED)
    fitting = scene.app(VISIBLE).asks(MEDIUM)
    fitting.hears_one_of([GRANT], [WAIT, GRANT], [PARKED, GRANT], [PARKED], [WAIT])
    if GRANT not in fitting.heard:
        context.warn_quality(
            "a parked request counts as used budget: what would fit beside the loaded models is refused"
        )
    held.hears(GRANT)


@cases.case("every_request_answered", "NPU-LIF-005")
def every_request_answered(context: CaseContext) -> None:
    """Whatever stands in its way, parked requests only too, a request is answered."""
    scene = Scene(context)
    scene.app(FOREGROUND).loads(MEDIUM)
    weak = scene.app(CACHED)
    for size in (LARGE, LARGE, MEDIUM, SMALL):
        _is_answered(weak.asks(size))
    _is_answered(scene.app(VISIBLE).asks(LARGE))


@cases.case("priority_within_an_app", "NPU-POL-025", "NPU-REQ-004")
def priority_within_an_app(context: CaseContext) -> None:
    """Of one app's parked requests the normal one ought to be granted before background, that before opportunistic."""
    opportunistic = opportunistic_of(context)
    scene = Scene(context)
    app = scene.app()
    held = app.loads(LARGE)
    weakest_first = (opportunistic, ModelPriority.BACKGROUND, ModelPriority.NORMAL)
    waiting = [app.asks(LARGE, priority) for priority in weakest_first]
    served = []
    for _ in range(len(waiting)):
        held.unload()
        scene.wait(lambda: any(GRANT in model.heard for model in waiting if model not in served))
        granted = [model for model in waiting if GRANT in model.heard and model not in served]
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
    app = Scene(context).app()
    held = app.loads(LARGE)
    normal, weak = app.asks(LARGE, ModelPriority.NORMAL), app.asks(LARGE, opportunistic)
    normal.hears(PARKED)
    weak.hears(PARKED)
    held.unload()
    normal.hears(PARKED, GRANT)
    weak.hears(PARKED)


@cases.case("turns_by_one", "NPU-POL-004")
def turns_by_one(context: CaseContext) -> None:
    """Turn taking has room for one model in the whole system, whatever its size and whoever's."""
    for size in (SMALL, MEDIUM, LARGE):
        scene = Scene(context, Policy.TURN_TAKING)
        app, weak = scene.app(FOREGROUND), scene.app(CACHED)
        held = app.loads(size)
        own, foreign = app.asks(SMALL), weak.asks(SMALL)
        own.hears(PARKED)
        foreign.hears(PARKED)
        held.hears(GRANT)
        own.cancel()
        held.unload()
        foreign.hears(PARKED, GRANT)


@cases.case("turns_to_the_foreground", "NPU-POL-004", "NPU-POL-013", "NPU-LIF-012")
def turns_to_the_foreground(context: CaseContext) -> None:
    """CTS turnTakingPolicy: the background model is asked to unload, the foreground is granted, loads and cancels."""
    scene = Scene(context, Policy.TURN_TAKING)
    held, wanted = scene.app(CACHED).loads(SMALL), scene.app(FOREGROUND).asks(SMALL, 100)
    held.hears(GRANT, UNLOAD)
    wanted.hears(WAIT)
    held.unload()
    wanted.hears(WAIT, GRANT)
    wanted.load()
    wanted.cancel()
    wanted.hears(WAIT, GRANT, CANCELLED)


def _is_answered(model: Model) -> None:
    model.app.scene.wait(lambda: bool(model.heard))
    checks.that(bool(model.heard), f"{model.name}: expected an answer, found none")


def opportunistic_of(context: CaseContext) -> int:
    """The number of NPU_MODEL_PRIORITY_OPPORTUNISTIC: the manifest's, where it has one."""
    return context.manifest.constants.get("NPU_MODEL_PRIORITY_OPPORTUNISTIC", ModelPriority.OPPORTUNISTIC)
