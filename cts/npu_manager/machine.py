"""Random scenarios of several apps under changing policies, importances and pressures, judged step by step.

Hypothesis draws scenarios, from the case's seed. What fails is cut down to the steps that matter: the message lists
them, and the failure file holds them, so that no seed is needed to run them again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.scenario_runner import ScenarioRunner, Step
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.harness.judge.manager_model import TrackedRequest
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import payload, search
from npu_conformance.specs.npu.types import (
    EndReason,
    Importance,
    MemoryPressure,
    Policy,
    ThermalStatus,
)

cases = CaseGroup("cts.npu_manager.machine", interface="manager", group=Group.MANAGER_POLICIES)

_EXAMPLES = {Scope.SMOKE: (4, 20), Scope.DEFAULT: (16, 30), Scope.FULL: (400, 60)}
"""How many scenarios, of how many steps, by scope."""

_REQUIREMENTS = (
    "NPU-LIF-005", "NPU-LIF-007", "NPU-LIF-008", "NPU-LIF-010", "NPU-LIF-011", "NPU-LIF-012", "NPU-LIF-013",
    "NPU-LIF-016", "NPU-LIF-018", "NPU-LIF-019", "NPU-LIF-022", "NPU-REQ-009", "NPU-POL-010", "NPU-POL-012",
    "NPU-POL-015", "NPU-POL-016", "NPU-POL-021", "NPU-POL-022", "NPU-POL-029", "NPU-PRI-002",
    "NPU-POL-018", "NPU-LIF-003", "NPU-REQ-007", "NPU-LIF-020", "NPU-PRI-011", "NPU-PRI-012",
    "NPU-PRI-013", "NPU-PRI-014", "NPU-POL-023", "NPU-LIF-017",
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


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    found = next(case for case in cases() if case.id == listed["id"])
    steps = msgspec.convert(listed["steps"], list[Step])
    return replace(found, run=partial(_replay, steps=steps))


_KINDS = (
    *("ask",) * 8,
    *("load",) * 6,
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
_OTHER_ENDS = (EndReason.FAILED, EndReason.CANCELLED_SYSTEM, EndReason.PAUSED)
_MAXIMA = (4, 1, 2, 3, 6, 8)
_MOVES = (Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED)
_SIZES = (0, 1, 2, 0, 1, 2, 0, 1, 2, 3)


_IDS = (0, -1, 1, 2**31 - 1, -(2**31), *range(2, 100))
"""In the order in which an app uses those that are free (NPU-REQ-007)."""
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


def _live(runner: ScenarioRunner, policy: Callable[[int], Step], chance: random.Random, kinds: Sequence[str]) -> None:
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


def _step(runner: ScenarioRunner, kind: str, uid: int, number: int) -> Step | None:
    """A step of this kind that is possible now; None where there is none."""
    own = [tracked for tracked in runner.model.live if tracked.uid == uid]
    if kind == "ask":
        live = {tracked.request.id for tracked in own}
        identifier = next(each for each in _IDS if each not in live)
        size = _SIZES[number % len(_SIZES)] if runner.model.gates else number % 3
        return Step(kind, uid, identifier, size, runner.priorities[number % len(runner.priorities)])
    if kind == "move":
        return Step(kind, uid, number=_MOVES[number % len(_MOVES)])
    if kind == "work":
        return Step(kind, uid, number=EndReason.COMPLETED if number % 4 else _OTHER_ENDS[number % 3])
    if kind in ("declare", "attribute"):
        return Step(kind, uid, number=number % 2)
    if kind in ("die", "spawn", "serve"):
        return Step(kind, uid)
    if kind == "wait":
        return Step(kind)
    if kind == "heat":
        return Step(kind, number=tuple(ThermalStatus)[number % len(ThermalStatus)])
    if kind == "again":  # the device reports what it has reported before
        return next((step for step in reversed(runner.steps) if step.do in ("heat", "shortage")), None)
    if kind == "shortage":
        return Step(kind, number=tuple(MemoryPressure)[number % len(MemoryPressure)])
    every = [tracked for tracked in runner.model.requests if tracked.uid == uid]
    requests = _suitable(kind, own) if number % 8 else every
    return Step(kind, uid, requests[number % len(requests)].request.id) if requests else None


def _suitable(kind: str, own: list[TrackedRequest]) -> list[TrackedRequest]:
    """The requests that a well-behaved and slow client would do this about."""
    if kind == "load":
        return [tracked for tracked in own if tracked.holds and not tracked.loaded]
    if kind == "unload":
        return [tracked for tracked in own if tracked.asked]
    return own


def _run(context: CaseContext, script: Callable[[ScenarioRunner], None], steps: list[Step] | None = None) -> None:
    """Run a scenario on a device without history. steps: gets the steps."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    try:
        with recording_hal(fixture) as hal:
            runner = ScenarioRunner(fixture, hal)
            if steps is not None:
                runner.steps = steps
            script(runner)
    finally:
        for client in (fixture.settings, *fixture.clients):
            client.process.close()


def _replay(context: CaseContext, steps: Sequence[Step]) -> None:
    """Run listed steps."""
    context.attach(lambda: payload(context, steps))

    def script(runner: ScenarioRunner) -> None:
        for step in steps:
            runner.run(step)

    _run(context, script)
