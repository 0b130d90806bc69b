"""A client that dies, in each state of its requests: silence for it, and its capacity for the others."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import COMPLETE, GRANT, PARKED, WAIT, Client, barrier
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, ModelLoadRequest, Policy

cases = CaseGroup("cts.npu_manager.death", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED


@cases.case("of_a_loaded_one", "NPU-LIF-019", "NPU-LIF-008")
def of_a_loaded_one(context: CaseContext) -> None:
    """CTS killForegroundApp: the dead app's model is gone, another app's request is granted (both gating policies)."""
    for policy in (Policy.TURN_TAKING, Policy.BUDGET):
        fixture = ManagerFixture(context, policy)
        holder = fixture.app(FOREGROUND)
        held = holder.loads(LARGE)
        parked = fixture.app(CACHED).asks(LARGE)
        parked.receives(PARKED)
        holder.dies()
        parked.receives(PARKED, GRANT)
        checks.equal(held.received, [GRANT], f"callbacks of {held.name}, whose process is dead")


@cases.case("of_every_process", "NPU-LIF-019", "NPU-LIF-008")
def of_every_process(context: CaseContext) -> None:
    """Where all processes of an app die at once, the models of each are gone."""
    fixture = ManagerFixture(context)
    holder = fixture.app(FOREGROUND)
    holder.loads(MEDIUM)
    first = holder.client
    holder.restarts()
    holder.asks(MEDIUM, identifier=9).receives(GRANT)
    parked = fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    first.alive = False
    holder.dies()
    parked.receives(PARKED, GRANT)


@cases.case("of_a_granted_one", "NPU-LIF-019", "NPU-LIF-008")
def of_a_granted_one(context: CaseContext) -> None:
    """A grant that was never used is not lost with the app that got it."""
    fixture = ManagerFixture(context)
    holder = fixture.app(FOREGROUND)
    pending, parked = holder.granted(LARGE), fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    holder.dies()
    parked.receives(PARKED, GRANT)
    checks.equal(pending.received, [GRANT], f"callbacks of {pending.name}, whose process is dead")


@cases.case("of_an_asked_one", "NPU-LIF-019", "NPU-LIF-007")
def of_an_asked_one(context: CaseContext) -> None:
    """The death of a client answers its unload request: whoever waited for it is granted."""
    fixture = ManagerFixture(context)
    holder = fixture.app(CACHED)
    held, wanted = holder.loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    holder.dies()
    wanted.receives(WAIT, GRANT)


@cases.case("of_a_waiting_one", "NPU-LIF-019")
def of_a_waiting_one(context: CaseContext) -> None:
    """What a dead app waited for goes to whoever is next when it comes."""
    fixture = ManagerFixture(context)
    held = fixture.app(CACHED).loads(LARGE)
    waiter = fixture.app(FOREGROUND)
    wanted = waiter.asks(LARGE)
    wanted.receives(WAIT)
    waiter.dies()
    held.unload()
    held.receives(GRANT, UNLOAD, COMPLETE)
    checks.equal(wanted.received, [WAIT], f"callbacks of {wanted.name}, whose process is dead")
    fixture.app(CACHED).loads(LARGE).receives(GRANT)


@cases.case("of_one_with_a_part", "NPU-LIF-019", "NPU-POL-021")
def of_one_with_a_part(context: CaseContext) -> None:
    """Of the room that a dead app waited for, the part that is there already goes to a parked request that it fits."""
    fixture = ManagerFixture(context)
    waiter, parking = fixture.app(FOREGROUND), fixture.app(Importance.GONE)
    models = [fixture.app(CACHED).loads(MEDIUM) for _ in range(2)]
    wanted, parked = waiter.asks(LARGE), parking.asks(MEDIUM)
    wanted.receives(WAIT)
    parked.receives(PARKED)
    models[0].receives(GRANT, UNLOAD)
    models[0].unload()
    wanted.receives(WAIT)
    parked.receives(PARKED)
    waiter.dies()
    parked.receives(PARKED, GRANT)


@cases.case("of_a_parked_one", "NPU-LIF-019", "NPU-LIF-005")
def of_a_parked_one(context: CaseContext) -> None:
    """A dead app's parked request is not granted when capacity comes: the next one is."""
    fixture = ManagerFixture(context)
    holder, dying, other = fixture.app(FOREGROUND), fixture.app(VISIBLE), fixture.app(CACHED)
    held, lost, parked = holder.loads(LARGE), dying.asks(LARGE), other.asks(LARGE)
    lost.receives(PARKED)
    parked.receives(PARKED)
    dying.dies()
    held.unload()
    parked.receives(PARKED, GRANT)
    checks.equal(lost.received, [PARKED], f"callbacks of {lost.name}, whose process is dead")


@cases.case("of_several_states", "NPU-LIF-019", "NPU-LIF-007", "NPU-LIF-008")
def of_several_states(context: CaseContext) -> None:
    """A dead app's model that was asked to unload goes to whoever waits for it, and what else it had to the next."""
    fixture = ManagerFixture(context)
    dying, parked = fixture.app(CACHED), fixture.app(Importance.GONE)
    models = [dying.loads(MEDIUM), dying.loads(MEDIUM)]
    wanted, weak = fixture.app(FOREGROUND).asks(MEDIUM), parked.asks(MEDIUM)
    wanted.receives(WAIT)
    weak.receives(PARKED)
    fixture.wait(lambda: any(UNLOAD in model.received for model in models))
    checks.equal(sorted(UNLOAD in model.received for model in models), [False, True], "models asked to unload")
    dying.dies()
    wanted.receives(WAIT, GRANT)
    weak.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("comes_back", "NPU-LIF-019", "NPU-REQ-009", "NPU-REQ-011")
def comes_back(context: CaseContext) -> None:
    """An app that died comes back with an empty slate: the same id is free, and it has no budget of its former life."""
    fixture = ManagerFixture(context)
    app = fixture.app(VISIBLE)
    app.loads(MEDIUM)
    app.asks(LARGE).receives(PARKED)
    app.dies()
    app.restarts()
    again = app.asks(LARGE, identifier=1)
    again.receives(GRANT)
    again.load()
    again.unload()
    again.receives(GRANT, COMPLETE)


@cases.case("others_live", "NPU-LIF-019")
def others_live(context: CaseContext) -> None:
    """A death ends no request of another app, in any state."""
    fixture = ManagerFixture(context)
    weak, strong, dying = fixture.app(CACHED), fixture.app(FOREGROUND), fixture.app(VISIBLE)
    held, pending = weak.loads(MEDIUM), strong.granted(MEDIUM)
    parked = weak.asks(LARGE)
    dying.asks(LARGE).receives(PARKED)
    parked.receives(PARKED)
    dying.dies()
    held.receives(GRANT)
    pending.receives(GRANT)
    parked.receives(PARKED)
    pending.load()
    pending.unload()
    pending.receives(GRANT, COMPLETE)


@cases.case("of_one_process_of_two", "NPU-LIF-020", "NPU-LIF-019")
def of_one_process_of_two(context: CaseContext) -> None:
    """The death of one process takes its own requests; another process of the same app ought to keep its own."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(FOREGROUND), fixture.app(VISIBLE)
    first = Client(context, app.uid, 5001)
    second = Client(context, app.uid, 5002)
    fixture.clients += [first, second]
    first.granted(ModelLoadRequest(101, MEDIUM))
    listener = second.granted(ModelLoadRequest(102, MEDIUM))
    parked = other.asks(MEDIUM)
    parked.receives(PARKED)
    first.alive = False
    fixture.control.kill_client(app.uid, 5001)
    parked.receives(PARKED, GRANT)
    listener.notify_model_unloaded(ModelLoadRequest(102, MEDIUM))
    fixture.wait(lambda: COMPLETE in second.recorder.of(102))
    if without_repetitions(second.recorder.of(102)) != [GRANT, COMPLETE]:
        context.warn_quality("the death of one process drops the requests of another process of the same uid")
    checks.equal(without_repetitions(first.recorder.of(101)), [GRANT], "callbacks of a dead process")


@cases.case("of_an_idle_process", "NPU-LIF-020")
def of_an_idle_process(context: CaseContext) -> None:
    """The death of a process that has asked for nothing, or is dead already, ought to cost its app nothing."""
    fixture = ManagerFixture(context)
    app = fixture.app(FOREGROUND)
    idle, short_lived = Client(context, app.uid, 5001), Client(context, app.uid, 5002)
    fixture.clients += [idle, short_lived]
    held = app.loads(MEDIUM)
    short_lived.granted(ModelLoadRequest(101, SMALL))
    idle.alive = short_lived.alive = False
    for pid in (5001, 5002, 5002, 5001):
        fixture.control.kill_client(app.uid, pid)
    held.unload()
    fixture.wait(lambda: COMPLETE in held.received)
    if held.received != [GRANT, COMPLETE]:
        context.warn_quality("the death of a process without requests drops those of another process of its uid")


@cases.case("of_both_processes", "NPU-LIF-019", "NPU-LIF-008")
def of_both_processes(context: CaseContext) -> None:
    """When the last process of an app dies as well, by itself or with the app, what it had is free like the first's."""
    for whole_app in (False, True):
        fixture = ManagerFixture(context)
        app, other = fixture.app(FOREGROUND), fixture.app(VISIBLE)
        processes = [Client(context, app.uid, pid) for pid in (5001, 5002)]
        for identifier, process in enumerate(processes, 101):
            process.granted(ModelLoadRequest(identifier, MEDIUM))
        parked = other.asks(LARGE)
        parked.receives(PARKED)
        fixture.control.kill_client(app.uid, 5001)
        parked.receives_one_of([PARKED], [PARKED, GRANT])  # the second's request may have gone with the first (LIF-020)
        app.client.alive = not whole_app
        fixture.control.kill_client(app.uid, 0 if whole_app else 5002)
        parked.receives(PARKED, GRANT)


@cases.case("before_the_answer", "NPU-LIF-019")
def before_the_answer(context: CaseContext) -> None:
    """What is on its way to a client when it dies is not delivered any more."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock the answer may come before the death")
    fixture = ManagerFixture(context)
    app = fixture.app(FOREGROUND)
    lost = app.asks(LARGE)
    barrier(app.client.manager)
    before = lost.received
    app.client.alive = False
    fixture.control.kill_client(app.uid)
    fixture.wait(lambda: False)
    checks.equal(lost.received, before, f"callbacks of {lost.name}, whose process is dead")


@cases.case("connection_closed", "NPU-LIF-019", "NPU-LIF-008")
def connection_closed(context: CaseContext) -> None:
    """An app whose connection ends is dead, without anybody telling the manager."""
    fixture = ManagerFixture(context)
    holder = fixture.app(FOREGROUND)
    holder.loads(LARGE)
    parked = fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    holder.client.alive = False
    holder.client.process.close()
    fixture.until(lambda: GRANT in parked.received)
    parked.receives(PARKED, GRANT)


@cases.case("one_connection_closed", "NPU-LIF-020", "NPU-LIF-019")
def one_connection_closed(context: CaseContext) -> None:
    """A process whose connection ends takes its own requests; another process of the app ought to keep its own."""
    fixture = ManagerFixture(context)
    app, other = fixture.app(FOREGROUND), fixture.app(VISIBLE)
    kept = app.loads(MEDIUM)
    ending = Client(context, app.uid, 5002)
    ending.granted(ModelLoadRequest(102, MEDIUM))
    parked = other.asks(MEDIUM)
    parked.receives(PARKED)
    ending.process.close()
    fixture.until(lambda: GRANT in parked.received)
    parked.receives(PARKED, GRANT)
    kept.unload()
    fixture.wait(lambda: COMPLETE in kept.received)
    if kept.received != [GRANT, COMPLETE]:
        context.warn_quality("the end of one process's connection drops the requests of another of the same uid")


@cases.case("removed_app", "NPU-LIF-019", "NPU-PRI-010")
def removed_app(context: CaseContext) -> None:
    """Removing an app ends its process, and with that its requests."""
    fixture = ManagerFixture(context)
    holder = fixture.app(FOREGROUND)
    holder.loads(LARGE)
    parked = fixture.app(CACHED).asks(LARGE)
    parked.receives(PARKED)
    holder.client.alive = False
    fixture.control.remove_app(holder.uid)
    parked.receives(PARKED, GRANT)
