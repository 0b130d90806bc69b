"""What holds of a few holds of many: completions of work, apps, requests and processes, beyond small tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from npu_conformance.cts.lib.manager_client import (
    CANCELLED,
    GRANT,
    PARKED,
    WAIT,
    Client,
    Notification,
    package_of,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, ClientApp, ManagerFixture
from npu_conformance.cts.lib.manager_needs import need_room_for
from npu_conformance.cts.lib.manager_observation import dump, shell_of
from npu_conformance.cts.lib.manager_pressure import HEAT, SHORTAGE, heat, pressed, shortage
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.manager import ManagerControl
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    MAX_PRIORITY,
    ROOT_UID,
    Importance,
    ModelLoadRequest,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.many", interface="manager", group=Group.MANAGER_POLICIES)

FOREGROUND, VISIBLE, CACHED = Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED
_COMPLETIONS = 128
"""Half of what 8 bits count: in one of two rounds such a number begins anew between two completions."""
_UIDS = range(11_001, 12_051)
_REQUESTS = 150
_APPS, _EACH = 11, 100
"""Together beyond 1024; for each a number that a manager may well allow."""
_CROWD = (*(VISIBLE,) * (_APPS - 6), *(each for each in Importance if each > VISIBLE))
"""Importances of so many apps, the strongest first."""
_WAITING = 75
_PROCESSES = 70
_LIVES, _REQUESTS_OF_A_LIFE = 30, 10
_HELD = 64
"""A policy that has room for so many models at once has room for more."""


@cases.case("turns", "NPU-POL-017", "NPU-POL-023")
def turns(context: CaseContext) -> None:
    """Which of two equals completed work later is known after many completions as well."""
    fixture = ManagerFixture(context)
    first, second = fixture.app(VISIBLE), fixture.app(VISIBLE)
    with recording_hal(fixture) as hal:
        for _ in range(3):
            for uid in (second.uid, *(first.uid,) * _COMPLETIONS):
                hal.works(uid, arrives=False)
            held, wanted = first.loads(LARGE), second.asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)
            held.unload()
            wanted.receives(WAIT, GRANT)
            wanted.cancel()


@cases.case("apps", "NPU-PRI-002", "NPU-PRI-005", "NPU-PRI-006", "NPU-PRI-009", "NPU-OBS-001")
def apps(context: CaseContext) -> None:
    """Each of many apps is known: to the HAL that is there, to the one that comes, and in a dump."""
    fixture = ManagerFixture(context)
    control = fixture.control
    ranks = {uid: FOREGROUND + place % 900 for place, uid in enumerate(_UIDS)}
    try:
        with recording_hal(fixture) as hal:
            ranks = _install(control, ranks)
            _judge_ranks(fixture, hal, ranks)
        with recording_hal(fixture) as hal:
            _judge_ranks(fixture, hal, ranks)
            ranks = {uid: _rank(control, uid, MAX_PRIORITY - place % 900) for place, uid in enumerate(_UIDS)}
            _judge_ranks(fixture, hal, ranks)
            control.remove_app(_UIDS[0])
            del ranks[_UIDS[0]]
            _judge_ranks(fixture, hal, ranks)
    finally:
        for uid in _UIDS:
            control.remove_app(uid)


def _install(control: ManagerControl, ranks: dict[int, int]) -> dict[int, int]:
    """Install these apps, and return what they count then."""
    for uid in ranks:
        control.install_app(uid, package_of(uid), True, BLOCKING_SDK)
    return {uid: _rank(control, uid, rank) for uid, rank in ranks.items()}


def _rank(control: ManagerControl, uid: int, importance: int) -> int:
    """Bring an app to an importance, or to the next that Android names where a control knows those alone."""
    named = min(each for each in Importance if each >= importance)
    try:
        control.set_importance(uid, importance)
    except IllegalArgument:
        if importance == named:
            raise
        control.set_importance(uid, named)
        return named
    return importance


def _judge_ranks(fixture: ManagerFixture, hal: RecordingHal, ranks: dict[int, int]) -> None:
    fixture.wait(lambda: all(hal.counted(uid) == rank for uid, rank in ranks.items()))
    dumped = {line.uid: line.priority for line in dump(fixture).priorities}
    for where, found in (("at the HAL", {uid: hal.counted(uid) for uid in ranks}), ("in a dump", dumped)):
        wrong = [(uid, found.get(uid), rank) for uid, rank in ranks.items() if found.get(uid) != rank]
        checks.equal(wrong[:3], [], f"{len(wrong)} of {len(ranks)} priorities {where}: uid, found, expected")


@cases.case("relieved", "NPU-PRI-002", "NPU-PRI-005", "NPU-PRI-006", "NPU-PRI-015")
def relieved(context: CaseContext) -> None:
    """Pressure may weaken the priorities of many apps; a HAL that came meanwhile learns it when that is over."""
    fixture = ManagerFixture(context)
    ranks = {uid: CACHED + place % 600 for place, uid in enumerate(_UIDS)}
    try:
        ranks = _install(fixture.control, ranks)
        for press, level in ((heat, HEAT[0]), (shortage, SHORTAGE[-1])):
            with ExitStack() as stack:
                with pressed(fixture, press, level):
                    hal = stack.enter_context(recording_hal(fixture))
                _judge_ranks(fixture, hal, ranks)
    finally:
        for uid in _UIDS:
            fixture.control.remove_app(uid)


@cases.case("resumed", "NPU-OBS-005", "NPU-PRI-006")
def resumed(context: CaseContext) -> None:
    """When pushes go on, the HAL learns the priorities of many apps again, whatever has been done to it."""
    fixture = ManagerFixture(context)
    ranks = {uid: CACHED + place % 600 for place, uid in enumerate(_UIDS)}
    root = shell_of(context, ROOT_UID)
    try:
        ranks = _install(fixture.control, ranks)
        with recording_hal(fixture) as hal:
            _judge_ranks(fixture, hal, ranks)
            root("disable")
            hal.table.clear()
            root("enable")
            _judge_ranks(fixture, hal, ranks)
    finally:
        root("enable")
        for uid in _UIDS:
            fixture.control.remove_app(uid)


@cases.case("requests", "NPU-POL-021", "NPU-LIF-008", "NPU-LIF-011", "NPU-POL-010", "NPU-OBS-001")
def requests(context: CaseContext) -> None:
    """Many parked requests are all cancelled, or granted when there is room for all, and leave all of it."""
    need_room_for(context, _HELD)
    fixture = ManagerFixture(context, parameters=PolicyParameters(None, {str(int(LARGE)): _APPS * _EACH}))
    holder, crowd = fixture.app(FOREGROUND), [fixture.app(CACHED) for _ in range(_APPS)]
    held = holder.loads(LARGE)
    asked = [(app.client, request) for app in crowd for request in _asked(app.client, _EACH)]
    _judge_all(fixture, asked, PARKED)
    _judge_dump(fixture, crowd, asked)
    withdrawn, asked = asked[::3], [each for place, each in enumerate(asked) if place % 3]
    _cancel_all(withdrawn)
    held.unload()
    _judge_all(fixture, withdrawn, PARKED, CANCELLED)
    _judge_all(fixture, asked, PARKED, GRANT)
    _cancel_all(asked)
    _judge_all(fixture, asked, PARKED, GRANT, CANCELLED)
    crowd[0].asks(LARGE, identifier=2 * _EACH).receives(GRANT)


@cases.case("turn_behind_many", "NPU-POL-018", "NPU-POL-011")
def turn_behind_many(context: CaseContext) -> None:
    """A turn goes to the equal that waits, however many requests are parked before it that can never have room."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(2, {str(int(LARGE)): 3}))
    first, second, third = (fixture.app(CACHED) for _ in range(3))
    crowd = [fixture.app(FOREGROUND) for _ in range(_APPS)]
    with recording_hal(fixture) as hal:
        held, other, wanted = first.loads(SMALL), second.loads(SMALL), third.asks(MEDIUM)
        asked = [(app.client, request) for app in crowd for request in _asked(app.client, _EACH, LARGE)]
        _judge_all(fixture, asked, PARKED)
        hal.works(first.uid)
        held.receives(GRANT, UNLOAD)
        held.unload()
        other.unload()
        wanted.receives_one_of([PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("holders", "NPU-POL-013", "NPU-LIF-007", "NPU-POL-015", "NPU-POL-020", "NPU-LIF-019", "NPU-OBS-001")
def holders(context: CaseContext) -> None:
    """Of many models those of the weakest app leave, as many as needed; what a dead app had is free for another."""
    need_room_for(context, _HELD)
    weights = {str(int(MEDIUM)): _EACH + 5, str(int(LARGE)): _EACH}
    fixture = ManagerFixture(context, parameters=PolicyParameters(_APPS * _EACH, weights))
    crowd = [fixture.app(importance) for importance in _CROWD]
    asked = [[(app.client, request) for request in _asked(app.client, _EACH)] for app in crowd]
    every = [each for requests in asked for each in requests]
    if len(every) < _APPS * _EACH:
        raise NotApplicable(f"an app may have no more than {len(asked[0])} requests")
    _judge_all(fixture, every, GRANT)
    for app in crowd:
        _load_all(app.client)
    _judge_dump(fixture, crowd, every)
    wanted = fixture.app(FOREGROUND).asks(MEDIUM)
    wanted.receives(WAIT)
    _judge_victims(fixture, crowd, [*(0,) * (_APPS - 2), 5, _EACH])
    strong = [fixture.app(Importance.FOREGROUND_SERVICE) for _ in range(3)]
    waiting = [(app.client, request) for app in strong for request in _asked(app.client, _WAITING // 3)]
    _judge_all(fixture, waiting, WAIT)
    _judge_victims(fixture, crowd, [*(0,) * (_APPS - 2), 5 + _WAITING, _EACH])
    for app in crowd:
        _unload_asked(app.client)
    wanted.receives(WAIT, GRANT)
    _judge_all(fixture, waiting, WAIT, GRANT)
    parked = fixture.app(Importance.GONE).asks(LARGE)
    parked.receives(PARKED)
    crowd[0].dies()
    parked.receives(PARKED, GRANT)


@cases.case("ended_together", "NPU-LIF-013", "NPU-LIF-022", "NPU-LIF-023")
def ended_together(context: CaseContext) -> None:
    """Of many loaded models whose policy is replaced none hears anything after its completion."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    client = fixture.app(FOREGROUND).client
    asked = [(client, request) for request in _asked(client, _REQUESTS)]
    _judge_all(fixture, asked, GRANT)
    _load_all(client)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    client.flush()
    told = [[kind for kind, _ in client.recorder.of(request.id)] for _, request in asked]
    wrong = [each for each in told if "complete" in each[:-1]]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(asked)} models were told more behind their completion")


@cases.case("processes", "NPU-LIF-019", "NPU-LIF-020")
def processes(context: CaseContext) -> None:
    """When an app of many processes dies, what each of them had is free."""
    need_room_for(context, _HELD)
    fixture = ManagerFixture(context, parameters=PolicyParameters(None, {str(int(LARGE)): _PROCESSES}))
    app, other = fixture.app(FOREGROUND), fixture.app(CACHED)
    crowd = [Client(context, app.uid, 5001 + number) for number in range(_PROCESSES)]
    fixture.clients += crowd
    asked = []
    with suppress(IllegalState):  # an app may have fewer requests
        for number, client in enumerate(crowd):
            request = ModelLoadRequest(number, SMALL)
            client.request(request)
            asked.append((client, request))
    _judge_all(fixture, asked, GRANT)
    parked = other.asks(LARGE)
    parked.receives(PARKED)
    for client in crowd:
        client.alive = False
    app.dies()
    parked.receives(PARKED, GRANT)


@cases.case("lives", "NPU-LIF-019", "NPU-REQ-011")
def lives(context: CaseContext) -> None:
    """An app that dies with its requests again and again may ask as ever: nothing of its earlier lives is left."""
    fixture = ManagerFixture(context)
    holder, app = fixture.app(FOREGROUND), fixture.app(CACHED)
    held = holder.loads(LARGE)
    first = 0
    for _ in range(_LIVES):
        parked = [(app.client, request) for request in _asked(app.client, _REQUESTS_OF_A_LIFE)]
        first = first or len(parked)
        checks.equal(len(parked), first, "requests that an app may have, behind several lives")
        _judge_all(fixture, parked, PARKED)
        app.dies()
        app.restarts()
    held.unload()
    app.asks(LARGE).receives(GRANT)


def _asked(client: Client, most: int, size: int = SMALL) -> list[ModelLoadRequest]:
    """Requests of models, as many as an app may have: how many these are is free."""
    taken: list[ModelLoadRequest] = []
    with suppress(IllegalState):
        for number in range(most):
            request = ModelLoadRequest(number, size)
            client.request(request)
            taken.append(request)
    return taken


def _load_all(client: Client) -> None:
    """Report each model as loaded that its client was told of last."""
    for event in tuple(client.recorder.events):
        if event.listener is not None:
            event.listener.notify_model_loaded(event.request)


def _judge_victims(fixture: ManagerFixture, crowd: Sequence[ClientApp], expected: Sequence[int]) -> None:
    """So many models of each app are asked to unload, and no others."""

    def told() -> list[int]:
        return [len(_asked_to_unload(app.client)) for app in crowd]

    fixture.wait(lambda: told() == expected)
    checks.equal(told(), expected, "models of the apps that are asked to unload, the strongest first")


def _asked_to_unload(client: Client) -> set[int]:
    """The requests of a client that were asked to unload, however often."""
    return {event.request.id for event in client.recorder.events if event.kind == "unload"}


def _unload_asked(client: Client) -> None:
    """Report each model as unloaded that its client was asked to unload."""
    asked = _asked_to_unload(client)
    for event in tuple(client.recorder.events):
        if event.listener is not None and event.request.id in asked:
            event.listener.notify_model_unloaded(event.request)


def _cancel_all(asked: Sequence[tuple[Client, ModelLoadRequest]]) -> None:
    for client, request in asked:
        client.manager.cancel_model_load(request)


def _judge_dump(
    fixture: ManagerFixture, crowd: Sequence[ClientApp], asked: Sequence[tuple[Client, ModelLoadRequest]]
) -> None:
    """Each live request has a line in the dump (NPU-OBS-001)."""
    lines = Counter(line.uid for line in dump(fixture).requests)
    expected = Counter(client.uid for client, _ in asked)
    wrong = [(app.uid, lines[app.uid], expected[app.uid]) for app in crowd if lines[app.uid] != expected[app.uid]]
    checks.equal(wrong[:3], [], "lines of requests in a dump: uid, found, expected")


def _judge_all(
    fixture: ManagerFixture, asked: Sequence[tuple[Client, ModelLoadRequest]], *expected: Notification
) -> None:
    """Each request has been notified of this, however often, and of nothing else."""

    def wrong() -> list[tuple[int, int, list[Notification]]]:
        told: defaultdict[tuple[Client, int], list[Notification]] = defaultdict(list)
        for client in dict.fromkeys(client for client, _ in asked):
            for event in client.recorder.events:
                told[client, event.request.id].append(event.notification)
        found = ((client.uid, request.id, told[client, request.id]) for client, request in asked)
        return [each for each in found if without_repetitions(each[2]) != [*expected]]

    fixture.wait(lambda: not wrong())
    checks.equal(wrong()[:3], [], f"those of {len(asked)} requests that were not notified of {[*expected]}")
