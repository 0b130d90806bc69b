"""Whose a request is, and where its callbacks go: it is known by the uid and the id, in every state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from npu_conformance.cts.lib.manager_client import (
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    WAIT,
    CallbackRecorder,
    Client,
    Notification,
    is_live,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance

cases = CaseGroup("cts.npu_manager.identity", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
Arrangement = Callable[[ManagerFixture], list[RequestedModel]]
"""Makes requests, of which the first has the state that matters."""


def _loaded(fixture: ManagerFixture) -> list[RequestedModel]:
    return [fixture.app(VISIBLE).loads(LARGE)]


def _asked(fixture: ManagerFixture) -> list[RequestedModel]:
    held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    return [held, wanted]


def _waiting(fixture: ManagerFixture) -> list[RequestedModel]:
    return _asked(fixture)[::-1]


def _parked(fixture: ManagerFixture) -> list[RequestedModel]:
    held, parked = fixture.app(FOREGROUND).loads(LARGE), fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    return [parked, held]


_STATES: dict[str, Arrangement] = {
    "loaded": _loaded,
    "asked": _asked,
    "waiting": _waiting,
    "parked": _parked,
}


def _declare_live_id(name: str, arrange: Arrangement) -> None:
    @cases.case(f"live_id_{name}", "NPU-REQ-012", "NPU-REQ-011", "NPU-POL-010")
    def live_id(context: CaseContext) -> None:
        """An id that is submitted again in whatever state leaves no budget taken once the requests have ended."""
        models = arrange(ManagerFixture(context))
        first = models[0]
        before = first.received
        rejected = is_live(
            context, partial(first.app.client.request, replace(first.request, size=SMALL), CallbackRecorder())
        )
        if rejected:
            first.receives(*before)
        for model in models:
            model.cancel()
        if rejected:
            first.receives(*before, CANCELLED)
        first.app.granted(LARGE)


for _name, _arrange in _STATES.items():
    _declare_live_id(_name, _arrange)


@cases.case("live_id_of_another_process", "NPU-REQ-009", "NPU-REQ-012", "NPU-POL-010")
def live_id_of_another_process(context: CaseContext) -> None:
    """An id is live for all processes of its uid: another one that submits it takes no budget, and gets no callback."""
    for arrange in _STATES.values():
        fixture = ManagerFixture(context)
        models = arrange(fixture)
        first = models[0]
        before, recorder = first.received, CallbackRecorder()
        other = Client(context, first.app.uid, 5002)
        fixture.clients.append(other)
        rejected = is_live(context, partial(other.request, first.request, recorder))
        for model in models:
            model.cancel()
        if rejected:
            first.receives(*before, CANCELLED)
            checks.equal(recorder.events, [], "callbacks of a request that was rejected")
        first.app.granted(LARGE)


@cases.case("listener_of_an_earlier_decision", "NPU-LIF-004", "NPU-LIF-009", "NPU-LIF-010")
def listener_of_an_earlier_decision(context: CaseContext) -> None:
    """The listener of a decision to wait or to be parked serves for what is reported after the grant as well."""
    arrangements: tuple[tuple[Arrangement, Notification], ...] = ((_waiting, WAIT), (_parked, PARKED))
    for arrange, decision in arrangements:
        fixture = ManagerFixture(context)
        model, held = arrange(fixture)
        listener = model.events[0].listener
        held.unload()
        model.receives(decision, GRANT)
        if listener is None:
            checks.fail(f"first decision on {model.name}", "a status listener", "none")
        listener.notify_model_loaded(model.request)
        fixture.settle()
        model.app.moves(CACHED)
        wanted = fixture.app(FOREGROUND).asks(LARGE)
        model.receives(decision, GRANT, UNLOAD)
        listener.notify_model_unloaded(model.request)
        model.receives(decision, GRANT, UNLOAD, COMPLETE)
        wanted.receives(WAIT, GRANT)


@cases.case("callback_of_each_request", "NPU-LIF-003", "NPU-LIF-025", "NPU-POL-013")
def callback_of_each_request(context: CaseContext) -> None:
    """Where each request of a process has a callback object of its own, all that is said of a request goes to that."""
    fixture = ManagerFixture(context)
    app = fixture.app(CACHED)
    recorders = [CallbackRecorder() for _ in range(3)]
    models = [app.asks(SMALL, recorder=recorder) for recorder in recorders]
    for model in models:
        model.receives(GRANT)
        model.load()
    fixture.app(FOREGROUND).asks(LARGE).receives(WAIT)
    for model, end, completion in zip(
        models, ("unload", "cancel", "unload"), (COMPLETE, CANCELLED, COMPLETE), strict=True
    ):
        model.receives(GRANT, UNLOAD)
        getattr(model, end)()
        model.receives(GRANT, UNLOAD, completion)
    for model, recorder in zip(models, recorders, strict=True):
        checks.equal({event.request.id for event in recorder.events}, {model.request.id}, "ids at a callback object")


@cases.case("id_used_again", "NPU-LIF-003", "NPU-LIF-011", "NPU-LIF-013")
def id_used_again(context: CaseContext) -> None:
    """A completion goes to the callback of the request that has ended, though its id may be a new request's by then."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    first = app.asks(SMALL, identifier=1, recorder=CallbackRecorder())
    first.receives(GRANT)
    app.client.manager.cancel_model_load(first.request)
    second = app.asks(SMALL, identifier=1, recorder=CallbackRecorder())
    first.receives(GRANT, CANCELLED)
    second.receives(GRANT)
    second.unload()
    second.receives(GRANT, COMPLETE)
    first.receives(GRANT, CANCELLED)


@cases.case("id_is_free_again", "NPU-REQ-007", "NPU-REQ-012", "NPU-LIF-011")
def id_is_free_again(context: CaseContext) -> None:
    """The id of a request that was cancelled in whatever state is free again, time after time."""
    for arrange in _STATES.values():
        models = arrange(ManagerFixture(context))
        app, identifier = models[0].app, models[0].request.id
        for model in models:
            model.cancel()
            model.is_cancelled()  # before the id is another request's, whose callbacks the same object gets
        for _ in range(2):
            again = app.asks(SMALL, identifier=identifier)
            again.receives(GRANT)
            again.cancel()
            again.receives(GRANT, CANCELLED)


@cases.case("cancelled_by_another_process", "NPU-REQ-009", "NPU-LIF-011", "NPU-LIF-012")
def cancelled_by_another_process(context: CaseContext) -> None:
    """A request is its uid's: another process of the app cancels it in every state, and its maker is told."""
    for arrange in _STATES.values():
        fixture = ManagerFixture(context)
        model = arrange(fixture)[0]
        before = model.received
        other = Client(context, model.app.uid, 5002)
        fixture.clients.append(other)
        other.manager.cancel_model_load(model.request)
        model.receives(*before, CANCELLED)
        checks.equal(other.recorder.events, [], "callbacks at a process that made no request")
