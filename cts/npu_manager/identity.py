"""Whose a request is, and where its callbacks go: it is known by the uid and the id, in every state."""

from __future__ import annotations

import itertools
from typing import Protocol

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
)
from npu_conformance.cts.lib.manager_fixture import LARGE, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.npu.types import Importance

cases = CaseGroup("cts.npu_manager.identity", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_EXTREME_IDS = (0, 2**31 - 1, -(2**31), -1)


class Arrangement(Protocol):
    """Makes requests, of which the first has the state that matters. identifier: of each; by default one of its own."""

    def __call__(self, fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
        """Make them."""


def _granted(fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
    return [fixture.app(VISIBLE).granted(LARGE, identifier=identifier)]


def _loaded(fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
    return [fixture.app(VISIBLE).loads(LARGE, identifier=identifier)]


def _asked(fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
    held = fixture.app(CACHED).loads(LARGE, identifier=identifier)
    wanted = fixture.app(FOREGROUND).asks(LARGE, identifier=identifier)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    return [held, wanted]


def _waiting(fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
    return _asked(fixture, identifier)[::-1]


def _parked(fixture: ManagerFixture, identifier: int | None = None) -> list[RequestedModel]:
    held = fixture.app(FOREGROUND).loads(LARGE, identifier=identifier)
    parked = fixture.app(CACHED).asks(LARGE, identifier=identifier)
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
        _judge_live_id(arrange(ManagerFixture(context)))


def _judge_live_id(models: list[RequestedModel], client: Client | None = None) -> None:
    """Submit the id of the first request again: a request that is rejected leaves no trace, one that is taken no room.

    client: another process that does so.
    """
    first, recorder = models[0], CallbackRecorder()
    before = first.received
    again = first.request if client is not None else replace(first.request, size=SMALL)
    rejected = first.app.asks_again(again, recorder, client)
    with checks.about("NPU-REQ-011" if rejected else "NPU-REQ-012"):
        if rejected:
            first.receives(*before)
        for model in models:
            model.cancel()
        if rejected:
            _hears_nothing(first, recorder)
            first.receives(*before, CANCELLED)
            _hears_nothing(first, recorder)
    first.app.granted(LARGE)


def _hears_nothing(live: RequestedModel, recorder: CallbackRecorder) -> None:
    found = [event.notification for event in recorder.events]
    what = f"callbacks at the object of a request that was rejected, as {live.name} is live"
    must(lambda: checks.equal(found, [], what), live.app.fixture.steps)


for _name, _arrange in _STATES.items():
    _declare_live_id(_name, _arrange)


@cases.case("live_id_of_another_process", "NPU-REQ-009", "NPU-REQ-012", "NPU-POL-010")
def live_id_of_another_process(context: CaseContext) -> None:
    """An id is live for all processes of its uid: another one that submits it takes no budget, and gets no callback."""
    for arrange in _STATES.values():
        fixture = ManagerFixture(context)
        models = arrange(fixture)
        other = Client(context, models[0].app.uid, 5002)
        fixture.clients.append(other)
        _judge_live_id(models, other)


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


@cases.case("extreme_ids_cancelled", "NPU-REQ-007", "NPU-LIF-011", "NPU-LIF-012", "NPU-POL-010")
def extreme_ids_cancelled(context: CaseContext) -> None:
    """A request with the id 0, or the least or largest one, is cancelled in every state, and leaves no budget taken."""
    for identifier, arrange in itertools.product(_EXTREME_IDS, (_granted, *_STATES.values())):
        models = arrange(ManagerFixture(context), identifier)
        before = models[0].received
        models[0].cancel()
        models[0].receives(*before, CANCELLED)
        for model in models[1:]:
            model.cancel()
        models[0].app.granted(LARGE)


@cases.case("extreme_ids_again", "NPU-REQ-012", "NPU-REQ-007", "NPU-REQ-011", "NPU-POL-010")
def extreme_ids_again(context: CaseContext) -> None:
    """Such an id is live as any other: one that is submitted again takes no budget, in whatever state."""
    for identifier, arrange in itertools.product(_EXTREME_IDS, _STATES.values()):
        _judge_live_id(arrange(ManagerFixture(context), identifier))


@cases.case("extreme_ids_loaded", "NPU-REQ-007", "NPU-LIF-007", "NPU-LIF-008", "NPU-LIF-009", "NPU-LIF-010")
def extreme_ids_loaded(context: CaseContext) -> None:
    """Such a request is granted when its time comes, loaded, asked to unload, and completed."""
    arrangements: tuple[tuple[Arrangement, Notification], ...] = ((_waiting, WAIT), (_parked, PARKED))
    for identifier, (arrange, decision) in itertools.product(_EXTREME_IDS, arrangements):
        fixture = ManagerFixture(context)
        model, held = arrange(fixture, identifier)
        held.unload()
        model.receives(decision, GRANT)
        model.load()
        model.app.moves(CACHED)
        wanted = fixture.app(FOREGROUND).asks(LARGE, identifier=identifier)
        model.receives(decision, GRANT, UNLOAD)
        model.unload()
        model.receives(decision, GRANT, UNLOAD, COMPLETE)
        wanted.receives(WAIT, GRANT)


@cases.case("extreme_ids_of_the_dead", "NPU-REQ-007", "NPU-LIF-019", "NPU-POL-010")
def extreme_ids_of_the_dead(context: CaseContext) -> None:
    """Such a request vanishes with its client in every state, and its room with it."""
    for identifier, arrange in itertools.product(_EXTREME_IDS, (_granted, *_STATES.values())):
        fixture = ManagerFixture(context)
        other = fixture.app(CACHED)
        for model in arrange(fixture, identifier):
            model.app.dies()
        other.granted(LARGE, identifier=identifier)
