"""Which steps random scenarios of a manager take: by their kinds, and by what is possible at the moment."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npu_conformance.cts.lib.bustle_runner import BustleRunner
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.service_choices import (
    COMMANDS,
    DENIED,
    DENIED_CALLS,
    DUMPS,
    PARAMETERS,
    REFUSED,
    STRANGERS,
)
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import (
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    EndReason,
    Importance,
    LoadStatus,
    MemoryPressure,
    ThermalStatus,
)

MOVES = (Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED)
_OTHER_ENDS = (EndReason.FAILED, EndReason.CANCELLED_SYSTEM, EndReason.PAUSED)
_EDGES = (0, 1, 99, 101, 124, 126, 199, 255, 256, 257, 399, 401, 511, 512, 999, 1000)
"""Importances at the edges of classes and of numbers of 8 bits."""
_WARM = (ThermalStatus.SEVERE, ThermalStatus.CRITICAL, ThermalStatus.SEVERE, ThermalStatus.NONE)
"""What leaves a part of the budget."""
_TARGETS = (36, 37, 38, 28, 1_000)
"""APIs for which apps are made."""
_SIZES = (0, 1, 2, 0, 1, 2, 0, 1, 2, 3)
_IDS: tuple[int, ...] = (0, -1, 1, 2**31 - 1, -(2**31), *range(2, 100))
"""In the order in which an app uses those that are free (NPU-REQ-007)."""
_CROWD = 13
"""So many live requests of one app are a flood."""
_COUNTS = {
    "dump": DUMPS,
    "deny": DENIED,
    "refuse": len(REFUSED) + 2,
    "shell": len(COMMANDS),
    "weigh": len(PARAMETERS),
}
"""From how many of a list these steps choose."""


class _Draw(msgspec.Struct, frozen=True):
    """What was drawn of a step, and the scenario so far. number: decides whatever is open."""

    runner: BustleRunner
    kind: str
    uid: int
    number: int

    @property
    def own(self) -> list[TrackedRequest]:
        """The app's live requests."""
        return [tracked for tracked in self.runner.model.live if tracked.uid == self.uid]

    @property
    def is_odd(self) -> bool:
        """One of two ways."""
        return self.number % 2 == 1

    @property
    def edge(self) -> int:
        """An importance at an edge."""
        return _EDGES[self.number % len(_EDGES)]

    def free_id(self, uid: int) -> int:
        """The first id that the app has free.

        While something is under way it is one that the app never used: whose completion comes would be open.
        """
        own, is_open = (each for each in self.runner.model.requests if each.uid == uid), self.runner.under_way
        used = {each.request.id for each in own if is_open or each.may_live}
        return next(each for each in _IDS if each not in used)


def step_of(runner: BustleRunner, kind: str, uid: int, number: int) -> Step | None:
    """A step of this kind that is possible now; None where there is none."""
    if uid in runner.removed:
        return Step("reinstall", uid)
    return _MAKERS.get(kind, _about_a_request)(_Draw(runner, kind, uid, number))


def _ask(draw: _Draw) -> Step:
    runner, number = draw.runner, draw.number
    size = _SIZES[number % len(_SIZES)] if runner.model.gates else number % 3
    priority = runner.priorities[number % len(runner.priorities)]
    return Step("ask", draw.uid, draw.free_id(draw.uid), size, priority, own=number % 3 == 0)


def _rival(draw: _Draw) -> Step | None:
    """A stronger app wants the room of a model that is loaded; where there is none, an app becomes stronger."""
    model, apps, number = draw.runner.model, draw.runner.apps, draw.number
    loaded = [tracked for tracked in model.live if tracked.loaded and not tracked.asked]
    if not loaded:
        return None
    victim = loaded[number % len(loaded)]
    stronger = [uid for uid in apps if model.importance[uid] < model.importance[victim.uid]]
    if not stronger:
        others = [uid for uid in apps if uid != victim.uid]
        return Step("move", others[number % len(others)], number=model.importance[victim.uid] * (number % 2))
    uid = stronger[number % len(stronger)]
    fitting = [size for size, weight in model.weights.items() if weight <= model.maximum] or [0]
    return Step("ask", uid, draw.free_id(uid), fitting[-1], own=number % 3 == 0)


def _equal(draw: _Draw) -> Step | None:
    """An equal wants the room of a model that is loaded; where it waits already, the other completes work."""
    model, number = draw.runner.model, draw.number
    loaded = [tracked for tracked in model.live if tracked.loaded and not tracked.asked]
    if not loaded:
        return None
    holder = loaded[number % len(loaded)]
    others = [uid for uid in draw.runner.installed if uid != holder.uid]
    equals = [uid for uid in others if model.importance[uid] == model.importance[holder.uid]]
    if any(tracked.uid in equals and tracked.decision == LoadStatus.NOT_PRIORITIZED for tracked in model.live):
        return Step("work", holder.uid, number=EndReason.COMPLETED)
    if not equals:
        return Step("move", others[number % len(others)], number=model.importance[holder.uid]) if others else None
    uid = equals[number % len(equals)]
    return Step("ask", uid, draw.free_id(uid), holder.request.size, own=number % 3 == 0)


def _process(draw: _Draw) -> Step:
    """One more process, which may have the number of one that is dead."""
    clients = [client for client in draw.runner.fixture.clients if client.uid == draw.uid and client.pid]
    alive = {client.pid for client in clients if client.alive}
    dead = [client.pid for client in clients if client.pid not in alive]
    return Step("spawn", draw.uid, number=dead[-1] if dead and draw.number % 4 else 6001 + draw.number % 3)


def _hal(draw: _Draw) -> Step:
    """The HAL dies. While there is none, who waits becomes the strongest, or else an app moves to an edge."""
    parked = [each.uid for each in draw.runner.model.live if each.decision == LoadStatus.NOT_PRIORITIZED]
    if parked:
        return Step("hal", parked[draw.number % len(parked)], own=draw.is_odd)
    return Step("hal", draw.uid, number=draw.edge, own=draw.is_odd)


def _again(draw: _Draw) -> Step | None:
    """The device reports what it has reported before."""
    return next((step for step in reversed(draw.runner.steps) if step.do in ("heat", "shortage")), None)


def _about_a_request(draw: _Draw) -> Step | None:
    """A step about a request that a well-behaved and slow client would choose, or about any that the app ever made."""
    model, is_any_apps = draw.runner.model, draw.kind in ("load", "unload")
    every = [tracked for tracked in model.requests if tracked.uid == draw.uid]
    requests = _suitable(draw.kind, model.live if is_any_apps else draw.own) if draw.number % 5 else every
    if not requests:
        return None
    chosen = requests[draw.number % len(requests)]
    return Step(draw.kind, chosen.uid, chosen.request.id, first=is_any_apps and draw.number % 3 == 0)


def _suitable(kind: str, live: list[TrackedRequest]) -> list[TrackedRequest]:
    if kind == "load":
        return [tracked for tracked in live if tracked.holds and not tracked.loaded]
    if kind == "unload":
        return [tracked for tracked in live if tracked.asked]
    return live


def _root(draw: _Draw) -> Step:
    """Root asks, as apps do."""
    return _system_asks(draw, ROOT_UID)


def _adb(draw: _Draw) -> Step:
    """The shell asks, or root."""
    return _system_asks(draw, SHELL_UID if draw.number % 3 else ROOT_UID)


def _system_asks(draw: _Draw, uid: int) -> Step:
    size = _SIZES[draw.number % 3]
    return Step("ask", uid, draw.free_id(uid), size, draw.runner.priorities[draw.number % 2])


def _perish(draw: _Draw) -> Step | None:
    """A process that has a number of its own dies."""
    clients = draw.runner.fixture.clients
    pids = [client.pid for client in clients if client.alive and client.uid == draw.uid and client.pid]
    return Step("perish", draw.uid, number=pids[draw.number % len(pids)]) if pids else None


def _outage(draw: _Draw) -> Step:
    """The HAL dies, or one comes."""
    return Step("revive") if draw.runner.absent else Step("halt", own=draw.is_odd)


def _suspension(draw: _Draw) -> Step:
    """Pushes are suspended, or resumed."""
    return Step("resume" if draw.runner.suspended else "suspend")


def _waiter(draw: _Draw) -> Step | None:
    """Who waits for unloads gives up, dies, or becomes weaker, while somebody behind it waits for what it lets go."""
    model, number = draw.runner.model, draw.number
    waiting = [each for each in model.live if each.decision == LoadStatus.WAIT_FOR_UNLOAD and not each.loaded]
    if not waiting:
        return _rival(draw)
    if all(each.decision != LoadStatus.NOT_PRIORITIZED for each in model.live):
        return Step("ask", draw.uid, draw.free_id(draw.uid), number % 2)
    chosen = waiting[number % len(waiting)]
    if number % 3 == 0 or chosen.uid not in draw.runner.apps:
        return Step("cancel", chosen.uid, chosen.request.id)
    return Step("die", chosen.uid) if number % 3 == 1 else Step("move", chosen.uid, number=MOVES[-1])


def _denied(draw: _Draw) -> Step | None:
    """Something is said of a request of the app, which may not say it at the moment."""
    if not draw.own:
        return None
    chosen = draw.own[draw.number // len(DENIED_CALLS) % len(draw.own)]
    return Step("denied", draw.uid, chosen.request.id, draw.number % len(DENIED_CALLS))


def _lapse(draw: _Draw) -> Step | None:
    """An app that has asked for something declares the feature no more, or again."""
    apps = [each.uid for each in draw.runner.model.live if each.uid in draw.runner.apps]
    return Step("declare", apps[draw.number // 2 % len(apps)], number=draw.number % 2) if apps else None


def _flood(draw: _Draw) -> Step:
    """An app asks for very much at once; where one has done so, something happens to all of that."""
    live, number = draw.runner.model.live, draw.number
    crowded = [uid for uid in draw.runner.apps if sum(each.uid == uid for each in live) >= _CROWD]
    if not crowded:
        return Step("flood", draw.uid, number=_CROWD + number % 11, own=draw.is_odd)
    uid = crowded[number % len(crowded)]
    own = [each.request.id for each in live if each.uid == uid]
    return (
        Step("fill", uid),
        Step("move", uid, number=MOVES[number % len(MOVES)]),
        Step("work", uid, number=EndReason.COMPLETED),
        Step("cancel", uid, own[number % len(own)]),
        Step("die", uid),
    )[number // 2 % 5]


def _servant(draw: _Draw) -> Step:
    """The system asks, cancels, or has completed work."""
    own = [each.request.id for each in draw.runner.model.live if each.uid == SYSTEM_UID]
    if own and draw.number % 4 == 1:
        return Step("cancel", SYSTEM_UID, own[draw.number % len(own)])
    if draw.number % 4 == 0:
        return Step("work", SYSTEM_UID, number=EndReason.COMPLETED)
    return _system_asks(draw, SYSTEM_UID)


def _shed(draw: _Draw) -> Step | None:
    """An app has unloaded a model that it never loaded, if possible while others of it stay."""
    model = draw.runner.model
    never = [each for each in model.live if not each.loaded and each.events]
    loaded = {each.uid for each in model.live if each.loaded}
    chosen = [each for each in never if each.uid in loaded] or never
    if not chosen:
        return None
    one = chosen[draw.number % len(chosen)]
    return Step("unload", one.uid, one.request.id)


def _peer(draw: _Draw) -> Step | None:
    """As `equal`, but the work of who has the room began long before it is completed, and another's meanwhile."""
    step, busy = _equal(draw), draw.runner.at_work
    if step is None or step.do != "work":
        return step
    if step.uid not in busy:
        return Step("begin", step.uid)
    idle = [uid for uid in draw.runner.apps if uid not in busy]
    return Step("begin", idle[draw.number % len(idle)]) if idle and busy[-1] == step.uid else Step("finish", step.uid)


def _at_work(draw: _Draw) -> Step | None:
    """Work that began first, or last, is completed."""
    busy = draw.runner.at_work
    return Step("finish", busy[0 if draw.is_odd else -1]) if busy else Step("begin", draw.uid)


def _permission(draw: _Draw) -> Step:
    """An app loses the permission, or gets it back after a while."""
    barred = sorted(draw.runner.barred)
    return Step("admit", barred[0]) if barred and draw.is_odd else Step("bar", draw.uid)


def _plain(draw: _Draw) -> Step:
    return Step(draw.kind, draw.uid)


def _one_of_two(draw: _Draw) -> Step:
    return Step(draw.kind, draw.uid, number=draw.number % 2)


def _counted(draw: _Draw) -> Step:
    return Step(draw.kind, draw.uid, number=draw.number % _COUNTS[draw.kind], own=draw.is_odd)


_MAKERS: dict[str, Callable[[_Draw], Step | None]] = {
    "ask": _ask,
    "rival": _rival,
    "hal": _hal,
    "again": _again,
    "root": _root,
    "adb": _adb,
    "perish": _perish,
    "outage": _outage,
    "suspension": _suspension,
    "waiter": _waiter,
    "denied": _denied,
    "lapse": _lapse,
    "process": _process,
    "servant": _servant,
    "shed": _shed,
    "at_work": _at_work,
    "peer": _peer,
    "permission": _permission,
    "flood": _flood,
    "equal": _equal,
    "warm": lambda draw: Step("heat", number=_WARM[draw.number % len(_WARM)]),
    "turn": lambda draw: Step("turn", draw.uid, number=draw.number),
    "pause": lambda draw: Step("pause", number=1100 if draw.number % 3 == 0 else 600),
    **dict.fromkeys(("die", "hang_up", "remove", "serve", "reinstall", "suspend", "resume", "wait"), _plain),
    **dict.fromkeys(("declare", "attribute"), _one_of_two),
    **dict.fromkeys(_COUNTS, _counted),
    "move": lambda draw: Step("move", draw.uid, number=MOVES[draw.number % len(MOVES)]),
    "edge": lambda draw: Step("move", draw.uid, number=draw.edge, own=draw.is_odd),
    "work": lambda draw: Step(
        "work", draw.uid, number=EndReason.COMPLETED if draw.number % 4 else _OTHER_ENDS[draw.number % 3]
    ),
    "spawn": lambda draw: Step("spawn", draw.uid, number=draw.number % 3 and 6000 + draw.number),
    "system": lambda draw: Step("system", draw.number % 2 * SYSTEM_UID, number=draw.edge),
    "stranger": lambda draw: Step("stranger", STRANGERS[draw.number % len(STRANGERS)]),
    "flag": lambda draw: Step("flag", id=draw.number % 2, number=draw.number // 2 % 2),
    "update": lambda draw: Step(
        "update", draw.uid, _TARGETS[draw.number % len(_TARGETS)], draw.number // 5 % 2, draw.number // 10 % 2
    ),
    "heat": lambda draw: Step("heat", number=tuple(ThermalStatus)[draw.number % len(ThermalStatus)]),
    "shortage": lambda draw: Step("shortage", number=tuple(MemoryPressure)[draw.number % len(MemoryPressure)]),
}
"""What makes a step of each kind; whatever is not here is about a request."""
