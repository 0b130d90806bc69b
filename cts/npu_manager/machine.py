"""Random scenarios of several apps under changing policies, importances and pressures, judged step by step.

Scenarios are drawn from the case's seed. What fails is cut down to the steps that matter: the message lists
them, and the failure file holds them, so that no seed is needed to run them again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.scenario_runner import Step
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.cts.lib.service_choices import COMMANDS, DENIED, DUMPS, PARAMETERS, REFUSED, STRANGERS
from npu_conformance.cts.lib.service_runner import ServiceRunner
from npu_conformance.harness.judge.manager_model import TrackedRequest
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import payload, search
from npu_conformance.specs.npu.types import (
    SYSTEM_UID,
    EndReason,
    Importance,
    LoadStatus,
    MemoryPressure,
    Policy,
    ThermalStatus,
)

cases = CaseGroup("cts.npu_manager.machine", interface="manager", group=Group.MANAGER_POLICIES)

_EXAMPLES = {Scope.SMOKE: (4, 20), Scope.DEFAULT: (20, 40), Scope.FULL: (400, 60)}
"""How many scenarios, of how many steps, by scope."""

_REQUIREMENTS = (
    "NPU-LIF-005", "NPU-LIF-007", "NPU-LIF-008", "NPU-LIF-010", "NPU-LIF-011", "NPU-LIF-012", "NPU-LIF-013",
    "NPU-LIF-016", "NPU-LIF-018", "NPU-LIF-019", "NPU-LIF-022", "NPU-REQ-009", "NPU-POL-010", "NPU-POL-012",
    "NPU-POL-015", "NPU-POL-016", "NPU-POL-021", "NPU-POL-022", "NPU-POL-029", "NPU-PRI-002",
    "NPU-POL-018", "NPU-LIF-003", "NPU-REQ-007", "NPU-LIF-020", "NPU-PRI-011", "NPU-PRI-012",
    "NPU-PRI-013", "NPU-PRI-014", "NPU-POL-023", "NPU-LIF-017", "NPU-LIF-025", "NPU-POL-013", "NPU-OBS-006",
)  # fmt: skip

_SERVICE = (
    "NPU-ACC-004", "NPU-ACC-007", "NPU-ACC-009", "NPU-ACC-010", "NPU-REQ-011", "NPU-OBS-001",
    "NPU-OBS-002", "NPU-OBS-003", "NPU-OBS-004", "NPU-OBS-005", "NPU-POL-002", "NPU-POL-005",
    "NPU-POL-006", "NPU-POL-007", "NPU-POL-008", "NPU-POL-009", "NPU-PRI-003", "NPU-PRI-005", "NPU-PRI-006",
    "NPU-PRI-007", "NPU-PRI-009", "NPU-PRI-010",
)  # fmt: skip


@cases.case("budget", *_REQUIREMENTS, "NPU-POL-011", scope=Scope.SMOKE)
def budget(context: CaseContext) -> None:
    """Random scenarios under the budget policy, with several maxima, break no promise of the manager."""
    _search(context, _budget)


@cases.case("turn_taking", *_REQUIREMENTS, "NPU-POL-004", scope=Scope.SMOKE)
def turn_taking(context: CaseContext) -> None:
    """Random scenarios under turn taking break no promise of the manager."""
    _search(context, lambda _: Step("policy", number=1, priority=Policy.TURN_TAKING))


@cases.case("status_quo", "NPU-POL-003", "NPU-LIF-005", "NPU-LIF-010", "NPU-LIF-013", "NPU-REQ-009", "NPU-PRI-002")
def status_quo(context: CaseContext) -> None:
    """Random scenarios under status quo, which gates nothing, break no promise of the manager."""
    _search(context, lambda _: Step("policy", number=1, priority=Policy.STATUS_QUO))


@cases.case("changing_policies", *_REQUIREMENTS, "NPU-POL-002")
def changing_policies(context: CaseContext) -> None:
    """Random scenarios in which the policy itself is replaced now and then break no promise of the manager."""
    _search(context, _any_policy, kinds=(*_KINDS, "policy", "policy"))


@cases.case("pressure", *_REQUIREMENTS, "NPU-POL-026", "NPU-POL-027", "NPU-PRI-005")
def pressure(context: CaseContext) -> None:
    """Random scenarios on a device that gets hot, or short of memory, and recovers break no promise."""
    _search(context, _budget, kinds=(*_KINDS, "heat", "heat", "shortage", "shortage", "again"))


@cases.case("deadlines", *_REQUIREMENTS, "NPU-LIF-027")
def deadlines(context: CaseContext) -> None:
    """Random scenarios in which unload requests are overdue, and apps work through another one, break no promise."""
    _search(context, _budget, kinds=_SLOW_KINDS)


@cases.case("service", *_REQUIREMENTS, *_SERVICE)
def service(context: CaseContext) -> None:
    """Random scenarios with rights, wrong arguments, dumps, shell commands and HALs that die break no promise."""
    _search(context, _any_policy, kinds=(*_KINDS, *_SERVICE_KINDS))


@cases.case("installations", *_REQUIREMENTS, *_SERVICE)
def installations(context: CaseContext) -> None:
    """Random scenarios in which apps are updated, removed and installed again, and flags change, break no promise."""
    _search(context, _budget, kinds=(*_KINDS, *_INSTALLATIONS))


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    found = next(case for case in cases() if case.id == listed["id"])
    steps = msgspec.convert(listed["steps"], list[Step])
    return replace(found, run=partial(_replay, steps=steps))


_KINDS = (
    *("ask",) * 8,
    *("load",) * 8,
    *("rival",) * 4,
    *("move",) * 5,
    *("unload",) * 4,
    *("work",) * 3,
    "cancel",
    *("die", "spawn") * 2,
    "declare",
    "attribute",
    "meddle",
)
_SLOW_KINDS = (
    *("ask",) * 6,
    *("load",) * 6,
    *("move",) * 5,
    *("wait",) * 4,
    *("serve",) * 2,
    "unload",
    "cancel",
)
"""What happens where clients answer no unload requests, and work is done by another uid."""
_SERVICE_KINDS = (
    *("dump", "shell") * 4,
    *("edge", "deny", "suspend") * 3,
    *("weigh", "hal", "heat", "resume", "refuse", "rival") * 2,
    "stranger",
    "system",
)
_INSTALLATIONS = (
    *("update",) * 5,
    *("reinstall", "flag", "dump", "heat", "rival") * 3,
    *("edge", "weigh", "shortage") * 2,
    "hal",
)
"""What else happens where the manager is asked as a service, and where apps come and go."""
_OTHER_ENDS = (EndReason.FAILED, EndReason.CANCELLED_SYSTEM, EndReason.PAUSED)
_MAXIMA = (4, 1, 2, 3, 6, 8)
_MOVES = (Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED)
_EDGES = (0, 1, 99, 101, 124, 126, 199, 255, 256, 257, 399, 401, 511, 512, 999, 1000)
"""Importances at the edges of classes and of numbers of 8 bits."""
_TARGETS = (36, 37, 38, 28, 1_000)
"""APIs for which apps are made."""
_SIZES = (0, 1, 2, 0, 1, 2, 0, 1, 2, 3)


_IDS = (0, -1, 1, 2**31 - 1, -(2**31), *range(2, 100))
"""In the order in which an app uses those that are free (NPU-REQ-007)."""
_COUNTS = {
    "dump": DUMPS,
    "deny": DENIED,
    "refuse": len(REFUSED) + 2,
    "shell": len(COMMANDS),
    "weigh": len(PARAMETERS),
}
"""From how many of a list these steps choose."""
_UNITS = (1, 257, 65_537, 1, 2**28 - 1)
"""What the smallest model weighs: sums go up to a 32-bit integer."""


def _budget(number: int) -> Step:
    return _policy(number, Policy.BUDGET)


def _policy(number: int, policy: Policy) -> Step:
    maximum, unit = _MAXIMA[number % len(_MAXIMA)], _UNITS[number % len(_UNITS)]
    return Step("policy", number=maximum, priority=policy, unit=unit if maximum * unit < 2**31 else 1)


def _any_policy(number: int) -> Step:
    return _policy(number, tuple(Policy)[number % 3])


def _search(context: CaseContext, policy: Callable[[int], Step], kinds: Sequence[str] = ()) -> None:
    """Run random scenarios; the first that fails is cut down and raised."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock what comes late cannot be told from what comes wrongly")
    kinds = kinds or _KINDS
    examples, length = _EXAMPLES[context.scope]

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        _run(context, lambda runner: _live(runner, policy, chance, chance.choices(kinds, k=length)), steps)

    search(context, examples, attempt, partial(_replay, context))


def _live(runner: ServiceRunner, policy: Callable[[int], Step], chance: random.Random, kinds: Sequence[str]) -> None:
    """One scenario: a policy, apps at several importances, what happens, and its end."""
    runner.run(policy(chance.randrange(60)))
    for uid in runner.apps:
        runner.run(Step("move", uid, number=chance.choice(_MOVES)))
    for kind in kinds:
        number = chance.randrange(60)
        step = policy(number) if kind == "policy" else _step(runner, kind, chance.choice(tuple(runner.apps)), number)
        if step is not None:
            runner.run(step)
    runner.drain()


def _step(runner: ServiceRunner, kind: str, uid: int, number: int) -> Step | None:
    """A step of this kind that is possible now; None where there is none."""
    own = [tracked for tracked in runner.model.live if tracked.uid == uid]
    if kind == "rival":
        return _rival(runner, number)
    if kind == "ask":
        live = {tracked.request.id for tracked in own}
        identifier = next(each for each in _IDS if each not in live)
        size = _SIZES[number % len(_SIZES)] if runner.model.gates else number % 3
        priority = runner.priorities[number % len(runner.priorities)]
        return Step(kind, uid, identifier, size, priority, own=number % 3 == 0)
    if kind == "move":
        return Step(kind, uid, number=_MOVES[number % len(_MOVES)])
    if kind == "work":
        return Step(kind, uid, number=EndReason.COMPLETED if number % 4 else _OTHER_ENDS[number % 3])
    if kind in ("declare", "attribute"):
        return Step(kind, uid, number=number % 2)
    if kind == "spawn":
        return Step(kind, uid, number=number % 3 and 6000 + number)
    if kind in ("die", "serve", "reinstall", "suspend", "resume", "wait"):
        return Step(kind, uid)
    if kind in _COUNTS:
        return Step(kind, uid, number=number % _COUNTS[kind], own=number % 2 == 1)
    parked = [tracked.uid for tracked in runner.model.live if tracked.decision == LoadStatus.NOT_PRIORITIZED]
    if kind == "hal" and parked:  # while there is no HAL, who waits becomes the strongest
        return Step(kind, parked[number % len(parked)], own=number % 2 == 1)
    if kind in ("edge", "hal"):
        return Step("move" if kind == "edge" else kind, uid, number=_EDGES[number % len(_EDGES)], own=number % 2 == 1)
    if kind == "system":
        return Step(kind, number % 2 * SYSTEM_UID, number=_EDGES[number % len(_EDGES)])
    if kind == "stranger":
        return Step(kind, STRANGERS[number % len(STRANGERS)])
    if kind == "flag":
        return Step(kind, id=number % 2, number=number // 2 % 2)
    if kind == "update":
        return Step(kind, uid, _TARGETS[number % len(_TARGETS)], number // 5 % 2, number // 10 % 2)
    if kind == "heat":
        return Step(kind, number=tuple(ThermalStatus)[number % len(ThermalStatus)])
    if kind == "again":  # the device reports what it has reported before
        return next((step for step in reversed(runner.steps) if step.do in ("heat", "shortage")), None)
    if kind == "shortage":
        return Step(kind, number=tuple(MemoryPressure)[number % len(MemoryPressure)])
    every = [tracked for tracked in runner.model.requests if tracked.uid == uid]
    requests = _suitable(kind, runner.model.live if kind in ("load", "unload") else own) if number % 5 else every
    if not requests:
        return None
    chosen = requests[number % len(requests)]
    return Step(kind, chosen.uid, chosen.request.id, first=kind in ("load", "unload") and number % 3 == 0)


def _rival(runner: ServiceRunner, number: int) -> Step | None:
    """A stronger app wants the room of a model that is loaded; where there is none, an app becomes stronger."""
    model = runner.model
    loaded = [tracked for tracked in model.live if tracked.loaded and not tracked.asked]
    if not loaded:
        return None
    victim = loaded[number % len(loaded)]
    stronger = [uid for uid in runner.apps if model.importance[uid] < model.importance[victim.uid]]
    if not stronger:
        others = [uid for uid in runner.apps if uid != victim.uid]
        return Step("move", others[number % len(others)], number=model.importance[victim.uid] * (number % 2))
    uid = stronger[number % len(stronger)]
    live = {tracked.request.id for tracked in model.live if tracked.uid == uid}
    fitting = [size for size, weight in model.weights.items() if weight <= model.maximum] or [0]
    return Step("ask", uid, next(each for each in _IDS if each not in live), fitting[-1], own=number % 3 == 0)


def _suitable(kind: str, live: list[TrackedRequest]) -> list[TrackedRequest]:
    """The requests that a well-behaved and slow client would do this about."""
    if kind == "load":
        return [tracked for tracked in live if tracked.holds and not tracked.loaded]
    if kind == "unload":
        return [tracked for tracked in live if tracked.asked]
    return live


def _run(context: CaseContext, script: Callable[[ServiceRunner], None], steps: list[Step] | None = None) -> None:
    """Run a scenario on a device without history. steps: gets the steps."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    try:
        with recording_hal(fixture) as hal:
            runner = ServiceRunner(fixture, hal)
            if steps is not None:
                runner.steps = steps
            try:
                script(runner)
            finally:
                runner.leave()
    finally:
        for client in (fixture.settings, *fixture.clients):
            client.process.close()


def _replay(context: CaseContext, steps: Sequence[Step]) -> None:
    """Run listed steps."""
    context.attach(lambda: payload(context, steps))

    def script(runner: ServiceRunner) -> None:
        for step in steps:
            runner.run(step)

    _run(context, script)
