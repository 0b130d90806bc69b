"""Who comes first: among parked requests the more important app, whatever the size; among equals nobody."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from npu_conformance.cts.lib.manager_client import COMPLETE, GRANT, PARKED, WAIT, CallbackRecorder, Client
from npu_conformance.cts.lib.manager_fixture import (
    LARGE,
    MEDIUM,
    SMALL,
    UNLOAD,
    ClientApp,
    ManagerFixture,
    RequestedModel,
)
from npu_conformance.cts.lib.manager_turns import judge_turn
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import EndReason, Importance, ModelPriority, Policy, PolicyParameters

cases = CaseGroup("cts.npu_manager.order", interface="manager", group=Group.MANAGER_POLICIES)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_SECOND_PROCESS = 7


@cases.case("important_before_small", "NPU-POL-021", "NPU-LIF-008")
def important_before_small(context: CaseContext) -> None:
    """After an unload the most important parked request that fits is granted, and not the smallest one."""
    for size in (MEDIUM, LARGE):
        fixture = ManagerFixture(context)
        held = fixture.app(FOREGROUND).loads(LARGE)
        small = [fixture.app(CACHED).asks(SMALL) for _ in range(4)]
        wanted = fixture.app(VISIBLE).asks(size)
        for model in (*small, wanted):
            model.receives(PARKED)
        held.unload()
        wanted.receives(PARKED, GRANT)
        _judge_fitting(fixture, small, 2 if size == MEDIUM else 0)


def _judge_fitting(fixture: ManagerFixture, small: list[RequestedModel], expected: int) -> None:
    fixture.wait(lambda: sum(GRANT in model.received for model in small) == expected)
    granted = sum(GRANT in model.received for model in small)
    checks.equal(granted, expected, "small requests that fit beside it")


@cases.case("holder_sinks", "NPU-LIF-008", "NPU-POL-013")
def holder_sinks(context: CaseContext) -> None:
    """A parked request is reconsidered where the app that holds the budget becomes less important than its own."""
    fixture = ManagerFixture(context)
    holder = fixture.app(FOREGROUND)
    held, parked = holder.loads(LARGE), fixture.app(VISIBLE).asks(LARGE)
    parked.receives(PARKED)
    holder.moves(CACHED)
    held.receives(GRANT, UNLOAD)
    parked.receives(PARKED, WAIT)
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    parked.receives(PARKED, WAIT, GRANT)


@cases.case("priority_among_equals", "NPU-POL-017")
def priority_among_equals(context: CaseContext) -> None:
    """The priority of a request takes nothing from an equally important app that has not completed work."""
    for weak in (ModelPriority.BACKGROUND, ModelPriority.NORMAL):
        fixture = ManagerFixture(context)
        held = fixture.app(VISIBLE).loads(LARGE, weak)
        parked = fixture.app(VISIBLE).asks(LARGE, ModelPriority.NORMAL)
        parked.receives(PARKED)
        held.receives(GRANT)
        held.unload()
        parked.receives(PARKED, GRANT)


@cases.case("later_completions", "NPU-POL-023", "NPU-POL-017")
def later_completions(context: CaseContext) -> None:
    """Of two equals the one whose newest work ended first ought to go first, however much it completed before."""
    for last in range(2):
        fixture = ManagerFixture(context)
        apps = [fixture.app(VISIBLE) for _ in range(2)]
        with recording_hal(fixture) as hal:
            for app in (apps[last], apps[1 - last], apps[last]):
                hal.works(app.uid)
        held = fixture.app(FOREGROUND).loads(LARGE)
        wanted = [app.asks(LARGE) for app in apps]
        for model in wanted:
            model.receives(PARKED)
        held.unload()
        judge_turn(wanted[1 - last], wanted[last])


@cases.case("own_weaker_model", "NPU-POL-016", "NPU-POL-025")
def own_weaker_model(context: CaseContext) -> None:
    """A normal request of an app takes nothing from its own background model, loaded or granted."""
    for is_loaded in (True, False):
        app = ManagerFixture(context).app()
        held = (app.loads if is_loaded else app.granted)(LARGE, ModelPriority.BACKGROUND)
        app.asks(LARGE, ModelPriority.NORMAL).receives(PARKED)
        held.receives(GRANT)


@cases.case("pending_stays_where_it_is_not_enough", "NPU-POL-014", "NPU-POL-020")
def pending_stays_where_it_is_not_enough(context: CaseContext) -> None:
    """A pending request is not cancelled for a stronger one for which its room would not be enough."""
    fixture = ManagerFixture(context)
    strong, pending = fixture.app(FOREGROUND).loads(MEDIUM), fixture.app(CACHED).granted(MEDIUM)
    fixture.app(VISIBLE).asks(LARGE).receives(PARKED)
    pending.receives(GRANT)
    strong.receives(GRANT)


@cases.case("surplus_under_way", "NPU-POL-020", "NPU-LIF-007")
def surplus_under_way(context: CaseContext) -> None:
    """What a large model that leaves will free beyond the need serves a further request: nobody else has to leave."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(5))
    large, small = fixture.app(Importance.GONE).loads(LARGE), fixture.app(CACHED).loads(SMALL)
    first = fixture.app(FOREGROUND).asks(SMALL)
    first.receives(WAIT)
    large.receives(GRANT, UNLOAD)
    second = fixture.app(VISIBLE).asks(SMALL)
    second.receives_one_of([WAIT], [PARKED])
    small.receives(GRANT)
    large.unload()
    first.receives(WAIT, GRANT)
    second.receives_one_of([WAIT, GRANT], [PARKED, GRANT], [PARKED, WAIT, GRANT])
    small.receives(GRANT)


@cases.case("completions_in_any_order", "NPU-POL-017", "NPU-POL-018")
def completions_in_any_order(context: CaseContext) -> None:
    """Of a holder and an equal that asks, only whose newest work ended later gives way, however often each worked."""
    for order in itertools.product((0, 1), repeat=3):
        fixture = ManagerFixture(context)
        holder, other = (fixture.app(VISIBLE) for _ in range(2))
        with recording_hal(fixture) as hal:
            held = holder.loads(LARGE)
            for who in order:
                hal.works((holder, other)[who].uid)
            _gives_way(held, other.asks(LARGE), is_newer=order[-1] == 0)


@cases.case("completions_of_works_at_once", "NPU-POL-017", "NPU-POL-018")
def completions_of_works_at_once(context: CaseContext) -> None:
    """Of works beside each other it counts which one ended later, not which began later."""
    for begun, ended in itertools.product(itertools.permutations((0, 1)), repeat=2):
        fixture = ManagerFixture(context)
        apps = [fixture.app(VISIBLE) for _ in range(2)]
        with recording_hal(fixture) as hal:
            held = apps[0].loads(LARGE)
            for who in begun:
                hal.begins(apps[who].uid)
            for who in ended:
                hal.ends(apps[who].uid)
            _gives_way(held, apps[1].asks(LARGE), is_newer=ended[-1] == 0)


def _gives_way(held: RequestedModel, wanted: RequestedModel, *, is_newer: bool) -> None:
    """A model leaves for that of an equal exactly where its app has completed work later."""
    wanted.receives(WAIT if is_newer else PARKED)
    held.receives(GRANT, *((UNLOAD,) if is_newer else ()))


def _nothing(app: ClientApp) -> None:
    return


def _ends_its_last_request(app: ClientApp) -> None:
    app.loads(SMALL).unload()


def _goes_and_comes_back(app: ClientApp) -> None:
    app.moves(CACHED)
    app.moves(VISIBLE)


def _dies_and_comes_back(app: ClientApp) -> None:
    app.dies()
    app.restarts()


def _dies_with_a_model(app: ClientApp) -> None:
    app.loads(SMALL)
    _dies_and_comes_back(app)


def _ends_its_connection(app: ClientApp) -> None:
    fixture, model = app.fixture, app.loads(LARGE)
    parked = fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    app.client.alive = False
    app.client.process.close()
    fixture.until(lambda: GRANT in parked.received)
    checks.equal(model.received, [GRANT], f"callbacks of {model.name}, whose connection has ended")
    parked.cancel()
    app.restarts()


def _loses_one_of_two_processes(app: ClientApp) -> None:
    first = app.client
    app.client = Client(app.fixture.context, app.uid, _SECOND_PROCESS)
    app.fixture.clients.append(app.client)
    app.loads(SMALL)
    app.client.alive = False
    app.fixture.control.kill_client(app.uid, _SECOND_PROCESS)
    app.fixture.settle()
    app.client = first


_BETWEEN: tuple[Callable[[ClientApp], None], ...] = (
    _nothing,
    _ends_its_last_request,
    _goes_and_comes_back,
    _dies_and_comes_back,
    _dies_with_a_model,
    _ends_its_connection,
    _loses_one_of_two_processes,
)
"""What may happen to an app that has completed work."""


@cases.case("completion_is_remembered", "NPU-POL-017")
def completion_is_remembered(context: CaseContext) -> None:
    """Work that an app has completed counts, though it had no model at the time, whatever it does before it holds one.

    Its requests, its processes and its connection may end meanwhile, and its importance may be another one for a while.
    """
    for between in _BETWEEN:
        fixture = ManagerFixture(context)
        holder, other = (fixture.app(VISIBLE) for _ in range(2))
        with recording_hal(fixture) as hal:
            hal.works(holder.uid)
            between(holder)
            held = holder.loads(LARGE)
            wanted = other.asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)


@cases.case("own_completion_is_remembered", "NPU-POL-017", "NPU-POL-023")
def own_completion_is_remembered(context: CaseContext) -> None:
    """So it does for who asks: it displaces no equal that has worked earlier, and ought to be served behind one."""
    for between in _BETWEEN:
        fixture = ManagerFixture(context)
        earlier, later = (fixture.app(VISIBLE) for _ in range(2))
        with recording_hal(fixture) as hal:
            for app in (earlier, later):
                hal.works(app.uid)
            between(later)
            held, wanted = earlier.loads(LARGE), later.asks(LARGE)
            wanted.receives(PARKED)
            held.receives(GRANT)
            held.unload()
            wanted.receives(PARKED, GRANT)
            wanted.cancel()
            _judge_served_first(fixture, earlier, later)


def _judge_served_first(fixture: ManagerFixture, first: ClientApp, last: ClientApp) -> None:
    """Of two equals that wait for room the one that worked earlier ought to get it, whichever asked first."""
    for order in ((first, last), (last, first)):
        held = fixture.app(FOREGROUND).loads(LARGE)
        wanted = {app.uid: app.asks(LARGE) for app in order}
        for model in wanted.values():
            model.receives(PARKED)
        held.unload()
        judge_turn(wanted[first.uid], wanted[last.uid])
        for model in sorted(wanted.values(), key=lambda model: GRANT in model.received):
            model.cancel()


@cases.case("completions_outlive_a_hal", "NPU-POL-017", "NPU-PRI-007")
def completions_outlive_a_hal(context: CaseContext) -> None:
    """Who has completed work later still counts when another HAL has come, whether it had requests by then or not."""
    fixture = ManagerFixture(context)
    first, second = (fixture.app(VISIBLE) for _ in range(2))
    with recording_hal(fixture) as hal:
        held = first.loads(LARGE)
        for app in (first, second):
            hal.works(app.uid)
        with recording_hal(fixture):
            second.asks(LARGE).receives(PARKED)
            held.receives(GRANT)


@cases.case("completions_for_another", "NPU-POL-017", "NPU-POL-018")
def completions_for_another(context: CaseContext) -> None:
    """Work counts for the app for which it was done, whoever has submitted it: the holder, who asks, or a third."""
    for submitter, worker in itertools.product(range(3), repeat=2):
        fixture = ManagerFixture(context)
        apps = [fixture.app(VISIBLE) for _ in range(3)]
        with recording_hal(fixture) as hal:
            held = apps[0].loads(LARGE)
            hal.works(apps[submitter].uid, original=apps[worker].uid)
            wanted = apps[1].asks(LARGE)
            wanted.receives(WAIT if worker == 0 else PARKED)
            held.receives(GRANT, *([UNLOAD] if worker == 0 else []))


@cases.case("other_ends_change_nothing", "NPU-POL-019", "NPU-POL-017")
def other_ends_change_nothing(context: CaseContext) -> None:
    """Who has completed work has, though later work of it fails, is cancelled or paused."""
    for reason in (EndReason.FAILED, EndReason.CANCELLED_USER, EndReason.CANCELLED_SYSTEM, EndReason.PAUSED):
        fixture = ManagerFixture(context)
        holder, other = (fixture.app(VISIBLE) for _ in range(2))
        with recording_hal(fixture) as hal:
            held = holder.loads(LARGE)
            hal.works(holder.uid)
            hal.works(holder.uid, reason)
            wanted = other.asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)


@cases.case("parked_before_a_new_policy", "NPU-LIF-022", "NPU-REQ-012")
def parked_before_a_new_policy(context: CaseContext) -> None:
    """A request that was parked when the policy changed has ended: no later grant is its, and its id is free."""
    fixture = ManagerFixture(context)
    fixture.app(FOREGROUND).loads(LARGE)
    app = fixture.app(FOREGROUND)
    parked = app.asks(LARGE)
    parked.receives(PARKED)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    fixture.settle()
    checks.that(GRANT not in parked.received, f"{parked.name}: expected no grant by the new policy, found one")
    app.asks(LARGE, identifier=parked.request.id, recorder=CallbackRecorder()).receives(GRANT)
    checks.that(GRANT not in parked.received, f"{parked.name}: expected no grant of the next request, found one")
