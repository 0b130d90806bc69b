"""Several clients at once: whatever the order in which their calls come, each promise holds for all of them."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from npu_conformance.cts.lib.manager_client import ACCEPTED_AGAIN, GRANT, ILLEGAL_STATE, PARKED, Client
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.types import Importance, ModelLoadRequest, Policy

cases = CaseGroup("cts.npu_manager.together", interface="manager", group=Group.MANAGER_REQUESTS)

VISIBLE = Importance.VISIBLE
_AT_ONCE = 4
_ROUNDS = 3
_MANY = 900
"""Requests whose completions fill the channel of a client that reads none."""


@cases.case("one_id", "NPU-REQ-012", "NPU-REQ-009", "NPU-POL-010")
def one_id(context: CaseContext) -> None:
    """Processes of one app that submit one id at once take its budget once; all but one ought to be rejected."""
    for _ in range(_ROUNDS):
        fixture = ManagerFixture(context)
        app = fixture.app(VISIBLE)
        processes = [Client(context, app.uid, 5001 + number) for number in range(_AT_ONCE)]
        fixture.clients += processes
        request = ModelLoadRequest(1, MEDIUM)
        answers = context.run_concurrently([partial(process.request, request) for process in processes])
        rejected = [answer for answer in answers if isinstance(answer, IllegalArgument | IllegalState)]
        checks.that(len(rejected) < _AT_ONCE, "an id that was submitted by several processes: expected one accepted")
        if len(rejected) < _AT_ONCE - 1:
            context.warn_quality(ACCEPTED_AGAIN)
        if any(isinstance(answer, IllegalState) for answer in rejected):
            context.warn_quality(ILLEGAL_STATE)
        fixture.settle()
        app.client.manager.cancel_model_load(request)
        app.asks(LARGE, identifier=2).receives(GRANT)


@cases.case("one_budget", "NPU-POL-010", "NPU-POL-017", "NPU-LIF-005")
def one_budget(context: CaseContext) -> None:
    """Of equal apps that ask at once for all of the budget one is granted, and each is answered."""
    for _ in range(_ROUNDS):
        _ask_for_all(ManagerFixture(context))


def _ask_for_all(fixture: ManagerFixture) -> None:
    apps = [fixture.app(VISIBLE) for _ in range(_AT_ONCE)]
    request = ModelLoadRequest(1, LARGE)
    fixture.context.run_concurrently([partial(app.client.request, request) for app in apps])
    answers = [app.client.recorder for app in apps]
    fixture.wait(lambda: all(recorder.of(1) for recorder in answers))
    decisions = sorted((tuple(without_repetitions(recorder.of(1))) for recorder in answers), reverse=True)
    checks.equal(decisions, [(PARKED,)] * (_AT_ONCE - 1) + [(GRANT,)], "decisions on requests for all of the budget")


@cases.case("deaf_client", "NPU-LIF-005", "NPU-LIF-001")
def deaf_client(context: CaseContext) -> None:
    """A client that does not read what it is sent delays neither calls nor callbacks of others, be they its uid's."""
    if context.manifest.virtual_clock:
        raise NotApplicable("with a virtual clock callbacks come while a test moves it, one after the other")
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    deaf, other = fixture.app(VISIBLE), fixture.app(VISIBLE)
    for number in range(_MANY):
        deaf.client.request(ModelLoadRequest(number))
    sibling = Client(context, deaf.uid, 5001)
    fixture.clients.append(sibling)
    deaf.client.process.is_deaf = True
    deaf.client.alive = False
    try:
        fixture.settings.manager.set_policy(Policy.BUDGET, None)
        for _ in range(3):
            other.loads(LARGE).unload()
        sibling.granted(ModelLoadRequest(_MANY, LARGE))
    finally:
        deaf.client.process.close()


@cases.case("deaf_for_a_while", "NPU-LIF-013", "NPU-LIF-010")
def deaf_for_a_while(context: CaseContext) -> None:
    """A client that reads again hears nothing of a request behind its completion, however much has waited for it."""
    if context.manifest.virtual_clock:
        raise NotApplicable("with a virtual clock callbacks come while a test moves it, one after the other")
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    client, other = fixture.app(VISIBLE).client, fixture.app(VISIBLE)
    models = _loaded(client)
    client.process.is_deaf, client.alive = True, False
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    other.loads(LARGE).unload()
    client.process.is_deaf, client.alive = False, True
    fixture.wait(lambda: sum(event.kind == "complete" for event in client.recorder.events) >= len(models))
    told: dict[int, list[str]] = {}
    for event in client.recorder.events:
        told.setdefault(event.request.id, []).append(event.kind)
    wrong = [each for each in told.values() if "complete" in each[:-1]]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(models)} models were told more behind their completion")


def _loaded(client: Client) -> list[ModelLoadRequest]:
    """Many loaded models, or as many as an app may have."""
    taken: list[ModelLoadRequest] = []
    with suppress(IllegalState):
        for number in range(_MANY):
            client.request(ModelLoadRequest(number))
            taken.append(ModelLoadRequest(number))
    client.flush()
    listeners = {event.request.id: event.listener for event in client.recorder.events}
    for request in taken:
        if (listener := listeners.get(request.id)) is not None:
            listener.notify_model_loaded(request)
    return taken
