"""What a request is, and whose it is."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial

from npu_conformance.cts.lib.manager_client import (
    ASSISTANT,
    CAMERA,
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    REJECTIONS,
    WAIT,
    Kind,
    barrier,
    install,
    is_live,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_needs import limited_requests
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.types import (
    Importance,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.request", interface="manager", group=Group.MANAGER_REQUESTS)

_FLOOD = {Scope.SMOKE: 200, Scope.DEFAULT: 1500, Scope.FULL: 10_000}
"""How many live requests one app tries to have, by scope."""
_ALIKE = (1, 1 - 2**31, 1 + 2**8, 1 + 2**16, 1 + 2**24, -1)
"""The same in the lowest 8, 16, 24 or 31 bits, and but for the sign."""
_BLOCK, _IN_A_ROW, _TIMES_SLOWER = 50, 3, 10
"""When a flood is too slow: in so many blocks, of so many requests, its fastest request is so many times slower."""


@cases.case("equal_ids_of_two_apps", "NPU-REQ-009", scope=Scope.SMOKE)
def equal_ids_of_two_apps(context: CaseContext) -> None:
    """Requests of two apps with one id are two requests: each app receives callbacks of its own only."""
    camera, assistant = install(context, CAMERA), install(context, ASSISTANT)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    assistant.granted(request)
    assistant.manager.cancel_model_load(request)
    assistant.expect(1, GRANT, CANCELLED)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)
    assistant.expect(1, GRANT, CANCELLED)


@cases.case("notification_of_another_app", "NPU-LIF-024", "NPU-REQ-009")
def notification_of_another_app(context: CaseContext) -> None:
    """An app that names another app's request to its own listener, or cancels it, changes nothing."""
    camera, assistant = install(context, CAMERA), install(context, ASSISTANT)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    foreign = assistant.granted(ModelLoadRequest(2))
    foreign.notify_model_loaded(request)
    foreign.notify_model_unloaded(request)
    assistant.manager.cancel_model_load(request)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)
    assistant.expect(1)


@cases.case("every_32_bit_id", "NPU-REQ-007")
def every_32_bit_id(context: CaseContext) -> None:
    """Negative and extreme ids are ids like any other."""
    camera = install(context, CAMERA)
    for identifier in (-(2**31), -1, 0, 1, 2**31 - 1):
        request = ModelLoadRequest(identifier)
        camera.granted(request).notify_model_unloaded(request)
        camera.expect(identifier, GRANT, COMPLETE)


@cases.case("ids_alike_in_part", "NPU-REQ-007", "NPU-REQ-009", "NPU-LIF-011", "NPU-LIF-012")
def ids_alike_in_part(context: CaseContext) -> None:
    """Ids that agree in their lower bits, or but for the sign, are those of different requests."""
    app = ManagerFixture(context, Policy.STATUS_QUO).app()
    with limited_requests():
        models = [app.asks(SMALL, identifier=identifier) for identifier in _ALIKE]
    for model in models:
        model.receives(GRANT)
        model.load()
    for place, model in enumerate(models):
        model.cancel()
        model.is_cancelled()
        for other in models[place + 1 :]:
            other.receives(GRANT)


@cases.case("sizes_and_priorities", "NPU-REQ-002", "NPU-REQ-003", "NPU-POL-003")
def sizes_and_priorities(context: CaseContext) -> None:
    """Each size class, and priorities from normal over one between to background, are accepted."""
    camera = install(context, CAMERA)
    priorities = (ModelPriority.NORMAL, 100, ModelPriority.BACKGROUND)
    for identifier, (size, priority) in enumerate(itertools.product(ModelSize, priorities)):
        camera.granted(ModelLoadRequest(identifier, size, priority))
        camera.expect(identifier, GRANT)


@cases.case("live_id_again", "NPU-REQ-012", "NPU-REQ-011")
def live_id_again(context: CaseContext) -> None:
    """Submitting a live id again is rejected, or counts as the same request: it ends once, and then the id is free.

    It may also replace that request, which ends as cancelled then.
    """
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    is_rejected = is_live(context, partial(camera.request, request))
    if is_rejected:
        with checks.about("NPU-REQ-011"):
            camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.flush()
    endings = [each for each in camera.recorder.of(1) if each[0] == "complete"]
    allowed = ([COMPLETE],) if is_rejected else ([COMPLETE], [CANCELLED, COMPLETE])
    checks.member(endings, allowed, "completions of request 1")
    camera.recorder.events.clear()
    camera.granted(request)
    camera.expect(1, GRANT)


@cases.case("default_size_is_smallest", "NPU-POL-005")
def default_size_is_smallest(context: CaseContext) -> None:
    """A request that names neither size nor priority is a small, normal one: four fit the budget."""
    app = ManagerFixture(context).app()
    for identifier in range(1, 5):
        app.client.granted(ModelLoadRequest(identifier))
    app.asks(SMALL, identifier=5).receives(PARKED)


@cases.case("unknown_size", "NPU-REQ-010", "NPU-REQ-011", "NPU-REQ-002", group=Group.MANAGER_VALIDATION)
def unknown_size(context: CaseContext) -> None:
    """An unknown size is rejected by the gating policies, and leaves neither budget taken nor a bad table."""
    for policy in (Policy.BUDGET, Policy.TURN_TAKING):
        app = ManagerFixture(context, policy).app()
        for size in (-1, 3, 1000, 2**31 - 1, -(2**31)):
            request = ModelLoadRequest(1, size)
            checks.raises(partial(app.client.request, request), IllegalArgument, f"request of size {size}")
        held = app.asks(LARGE, identifier=1)
        held.receives(GRANT)
        held.load()
        app.asks(SMALL, identifier=2).receives(PARKED)
        held.unload()
        held.receives(GRANT, COMPLETE)


@cases.case("null_callback", "NPU-REQ-013", "NPU-REQ-011", group=Group.MANAGER_VALIDATION)
def null_callback(context: CaseContext) -> None:
    """A request without a callback ought to be rejected at once; either way it takes no budget and disturbs nobody."""
    app = ManagerFixture(context).app()
    try:
        app.client.manager.request_can_load_model(ModelLoadRequest(1, LARGE), None)
    except REJECTIONS:
        pass
    else:
        context.warn_quality("a request without a callback is accepted")
        app.client.manager.cancel_model_load(ModelLoadRequest(1, LARGE))
    app.asks(LARGE, identifier=1).receives(GRANT)


@cases.case("live_id_takes_budget_once", "NPU-REQ-012", "NPU-REQ-009", "NPU-REQ-011", "NPU-POL-010")
def live_id_takes_budget_once(context: CaseContext) -> None:
    """A live id that is submitted again, rejected or not, in whatever size, takes its budget once: no more, no less."""
    for size, beside in ((MEDIUM, (LARGE, MEDIUM)), (SMALL, (LARGE, MEDIUM)), (LARGE, (LARGE,))):
        fixture = ManagerFixture(context, parameters=PolicyParameters(max_budget=8))
        app, other = fixture.app(), fixture.app()
        first = app.granted(MEDIUM)
        if app.asks_again(ModelLoadRequest(first.request.id, size), app.client.recorder):
            with checks.about("NPU-REQ-011"):
                first.receives(GRANT)
        fitting = [other.granted(each) for each in beside]
        if first.received[-1] == GRANT:  # who accepts it may decide anew, and park it
            further = other.asks(beside[-1])
            further.receives(PARKED)
            further.cancel()
        for model in fitting:
            model.receives(GRANT)
            model.cancel()
        first.cancel()
        for _ in range(2):
            app.granted(LARGE)


@cases.case("equal_ids_take_budget_each", "NPU-REQ-009", "NPU-POL-010")
def equal_ids_take_budget_each(context: CaseContext) -> None:
    """Equal ids of two apps take budget each, and the end of one frees nothing of the other."""
    fixture = ManagerFixture(context)
    app, other, third = fixture.app(), fixture.app(), fixture.app()
    mine, theirs = app.asks(MEDIUM, identifier=7), other.asks(MEDIUM, identifier=7)
    mine.receives(GRANT)
    theirs.receives(GRANT)
    parked = third.asks(LARGE)
    parked.receives(PARKED)
    theirs.cancel()
    theirs.receives(GRANT, CANCELLED)
    mine.receives(GRANT)
    parked.receives(PARKED)
    mine.cancel()
    parked.receives(PARKED, GRANT)


@cases.case("foreign_notifications_free_nothing", "NPU-LIF-024", "NPU-POL-010")
def foreign_notifications_free_nothing(context: CaseContext) -> None:
    """What an app notifies or cancels of another's request neither frees budget nor counts as loading."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(), fixture.app()
    held = app.asks(LARGE, identifier=1)
    held.receives(GRANT)
    parked = other.asks(LARGE, identifier=2)
    parked.receives(PARKED)
    listener = parked.events[-1].listener
    if listener is None:
        checks.fail("a parked decision", "a status listener", "none")
    for notify in (
        listener.notify_model_loaded,
        listener.notify_model_unloaded,
        other.client.manager.cancel_model_load,
    ):
        notify(held.request)
        parked.receives(PARKED)
        held.receives(GRANT)


@cases.case("flood", "NPU-REQ-011", "NPU-LIF-005", "NPU-LIF-011")
def flood(context: CaseContext) -> None:
    """Each of very many requests is rejected or answered, delays no stronger app, and ends as cancelled when it is."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(Importance.CACHED), fixture.app(Importance.FOREGROUND)
    fixture.forgets(app)
    taken = _flooded(context, app, other)
    wanted = other.asks(LARGE)
    wanted.receives_one_of([GRANT], [WAIT, GRANT])
    fixture.wait(lambda: not _without(app, taken, "decision", "complete"))
    unanswered = _without(app, taken, "decision", "complete")
    checks.equal(unanswered, [], "ids of a flood that got neither a decision nor a completion")
    for request in taken:
        app.client.manager.cancel_model_load(request)
    fixture.wait(lambda: not _without(app, taken, "complete"))
    completed = Counter(event.request.id for event in app.client.recorder.events if event.kind == "complete")
    checks.equal(completed, Counter(request.id for request in taken), "completions of the requests of a flood, by id")
    wanted.cancel()
    app.asks(LARGE, identifier=0).receives(GRANT)


def _flooded(context: CaseContext, app: ClientApp, other: ClientApp) -> list[ModelLoadRequest]:
    """The requests of a flood that were taken; it ends where they make calls many times slower, which is a warning."""
    taken: list[ModelLoadRequest] = []
    ratios: list[float] = []
    for first in range(1, _FLOOD[context.scope] + 1, _BLOCK):
        ratios.append(_slowness(app, other, range(first, first + _BLOCK), taken))
        if min(ratios[-_IN_A_ROW:]) > _TIMES_SLOWER * ratios[0]:
            slower = f"{ratios[-1] / ratios[0]:.0f} times as slow as at first"
            context.warn_quality(f"with {len(taken)} live requests of one app its further requests are {slower}")
            break
    return taken


def _slowness(app: ClientApp, other: ClientApp, ids: Iterable[int], taken: list[ModelLoadRequest]) -> float:
    """How much longer a request lasts than another app's call that asks for nothing, the least of each.

    A busy machine makes most of them slower, and not all. taken: gets those that were taken.
    """
    seconds, idle = [], []
    for request in map(ModelLoadRequest, ids):
        began = time.perf_counter()
        taken += [request] if _is_taken(app, request) else []
        between = time.perf_counter()
        barrier(other.client.manager)
        seconds.append(between - began)
        idle.append(time.perf_counter() - between)
    return min(seconds) / min(idle)


def _is_taken(app: ClientApp, request: ModelLoadRequest) -> bool:
    try:
        app.client.request(request)
    except (IllegalState, IllegalArgument):  # a manager may have room for so many and no more
        return False
    return True


def _without(app: ClientApp, requests: Iterable[ModelLoadRequest], *kinds: Kind) -> list[int]:
    """The ids of requests without a callback of these kinds."""
    answered = {event.request.id for event in app.client.recorder.events if event.kind in kinds}
    return [request.id for request in requests if request.id not in answered]
