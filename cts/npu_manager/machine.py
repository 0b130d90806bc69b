"""Random scenarios of several apps under changing policies, importances and pressures, judged step by step.

Scenarios are drawn from the case's seed. What fails is cut down to the steps that matter: the message lists
them, and the failure file holds them, so that no seed is needed to run them again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from npu_conformance.cts.lib.bustle_runner import BustleRunner
from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.manager_needs import need_room_for
from npu_conformance.cts.lib.scenario_runner import APPS
from npu_conformance.cts.lib.scenario_step import TEXTS, Step
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.cts.lib.service_steps import MOVES, step_of
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import case_of_steps, search
from npu_conformance.specs.npu.types import Policy

cases = CaseGroup("cts.npu_manager.machine", interface="manager", group=Group.MANAGER_POLICIES)

_EXAMPLES = {Scope.SMOKE: (4, 20), Scope.DEFAULT: (14, 40), Scope.FULL: (400, 60)}
"""How many scenarios, of how many steps, by scope."""
_MORE = 2
"""How many times as many where more kinds of things happen."""

_REQUIREMENTS = (
    "NPU-LIF-005", "NPU-LIF-007", "NPU-LIF-008", "NPU-LIF-010", "NPU-LIF-011", "NPU-LIF-012", "NPU-LIF-013",
    "NPU-LIF-016", "NPU-LIF-018", "NPU-LIF-019", "NPU-LIF-022", "NPU-REQ-009", "NPU-POL-010", "NPU-POL-012",
    "NPU-POL-015", "NPU-POL-016", "NPU-POL-021", "NPU-POL-022", "NPU-POL-029", "NPU-PRI-002",
    "NPU-POL-018", "NPU-LIF-003", "NPU-REQ-007", "NPU-LIF-020", "NPU-PRI-011", "NPU-PRI-012",
    "NPU-PRI-013", "NPU-PRI-014", "NPU-POL-023", "NPU-LIF-017", "NPU-LIF-025", "NPU-POL-013", "NPU-OBS-006",
    "NPU-OBS-001", "NPU-POL-014", "NPU-POL-017", "NPU-LIF-009", "NPU-POL-003", "NPU-POL-026", "NPU-POL-027",
    "NPU-REQ-004", "NPU-PRI-005", "NPU-PRI-009", "NPU-ACC-008", "NPU-ACC-009",
)  # fmt: skip

_SERVICE = (
    "NPU-ACC-004", "NPU-ACC-007", "NPU-ACC-010", "NPU-REQ-011",
    "NPU-OBS-002", "NPU-OBS-003", "NPU-OBS-004", "NPU-OBS-005", "NPU-POL-002", "NPU-POL-005",
    "NPU-POL-006", "NPU-POL-007", "NPU-POL-008", "NPU-POL-009", "NPU-PRI-003", "NPU-PRI-006",
    "NPU-PRI-007", "NPU-PRI-010", "NPU-PRI-004",
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


@cases.case("pressure", *_REQUIREMENTS)
def pressure(context: CaseContext) -> None:
    """Random scenarios on a device that gets hot, or short of memory, and recovers break no promise."""
    _search(context, _budget, kinds=(*_KINDS, *_PRESSURE))


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


@cases.case("in_flight", *_REQUIREMENTS, "NPU-POL-002", "NPU-PRI-015")
def in_flight(context: CaseContext) -> None:
    """Random scenarios in which things happen before what the one before has brought about arrives break no promise."""
    _search(context, _any_budget, kinds=(*_KINDS, *_IN_FLIGHT), hurry=0.6, share=_MORE)


@cases.case("processes", *_REQUIREMENTS, "NPU-PRI-003")
def processes(context: CaseContext) -> None:
    """Random scenarios of several processes of each app, which come, ask, die and come again, break no promise."""
    _search(context, _any_budget, kinds=_PROCESSES, hurry=0.6, crowd=2, share=_MORE)


@cases.case("outages", *_REQUIREMENTS, *_SERVICE, "NPU-POL-026", "NPU-POL-027")
def outages(context: CaseContext) -> None:
    """Random scenarios in which much changes while there is no HAL, or pushes are suspended, break no promise."""
    _search(context, _budget, kinds=_OUTAGES, crowd=3, share=_MORE)


@cases.case("patience", *_REQUIREMENTS, "NPU-LIF-027")
def patience(context: CaseContext) -> None:
    """Random scenarios in which unload requests of several moments stay unanswered break no promise."""
    _search(context, _budget, kinds=_PATIENT, begin=(Step("patience", number=3000),), share=_MORE)


@cases.case("withdrawals", *_REQUIREMENTS)
def withdrawals(context: CaseContext) -> None:
    """Random scenarios in which those who wait for unloads give up, die or become weaker break no promise."""
    _search(context, _roomy, kinds=_WITHDRAWALS)


@cases.case("strangers", *_REQUIREMENTS, "NPU-PRI-003", "NPU-PRI-004")
def strangers(context: CaseContext) -> None:
    """Random scenarios in which root and the shell ask too, and connections end without a word, break no promise."""
    _search(context, _any_budget, kinds=_STRANGERS)


@cases.case("reigns", *_REQUIREMENTS, "NPU-POL-002")
def reigns(context: CaseContext) -> None:
    """Random scenarios in which apps move, die and are refused under policies that soon are others break no promise."""
    _search(context, _reign, kinds=_REIGNS, share=_MORE)


@cases.case("denials", *_REQUIREMENTS, "NPU-ACC-005")
def denials(context: CaseContext) -> None:
    """Random scenarios in which apps cancel and notify without the permission break no promise, and change nothing."""
    _search(context, _any_budget, kinds=_DENIALS)


@cases.case("bustle", *_REQUIREMENTS, "NPU-ACC-005", "NPU-PRI-003")
def bustle(context: CaseContext) -> None:
    """Random scenarios of floods, works beside works, models of the system, and rights that are away for long."""
    need_room_for(context, _WIDEST)
    _search(context, _wide, kinds=_BUSTLE, share=_MORE)


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    return case_of_steps(cases(), listed, Step, TEXTS, _replay)


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
_PRESSURE = (*("equal",) * 8, *("warm",) * 4, "heat", "shortage", "again")
_IN_FLIGHT = (*("equal", "policy", "rival", "root") * 2, "heat", "shortage", "update", "process", "turn")
_PROCESSES = (
    *("ask", "perish") * 6,
    *("process", "load", "turn") * 4,
    *("root", "rival", "equal", "move") * 2,
    *("unload", "cancel", "work", "policy"),
)
_OUTAGES = (
    *("ask", "load") * 5,
    *("equal", "outage", "suspension") * 4,
    *("move", "unload", "work") * 3,
    *("rival", "serve", "update", "flag", "edge", "shortage", "remove", "attribute", "root") * 2,
    *("heat", "stranger", "cancel", "die"),
)
_PATIENT = (
    *("ask", "load") * 6,
    *("rival",) * 6,
    *("pause",) * 6,
    *("move",) * 4,
    *("heat", "unload", "serve") * 2,
    "cancel",
    "root",
)
_WITHDRAWALS = (
    *("waiter",) * 8,
    *("ask", "load") * 6,
    *("unload",) * 4,
    *("move", "rival") * 2,
    "root",
)
_STRANGERS = (
    *("adb",) * 7,
    *("load", "hang_up") * 5,
    *("ask", "unload", "rival") * 4,
    *("process", "turn", "move", "equal") * 2,
    "cancel",
)
_REIGNS = (
    *("ask",) * 14,
    *("policy", "lapse") * 5,
    *("move", "load") * 3,
    *("unload", "cancel", "die", "warm", "work", "equal"),
)
_DENIALS = (
    *("denied",) * 10,
    *("ask", "load") * 6,
    *("rival", "equal", "move") * 3,
    *("unload", "cancel", "work"),
)
_BUSTLE = (
    *("load",) * 7,
    *("peer",) * 9,
    *("ask",) * 5,
    *("at_work",) * 2,
    *("servant", "shed", "permission", "move") * 3,
    *("unload", "rival") * 2,
    *("flood",) * 3,
    *("cancel", "die"),
)
_QUICK = {
    *("ask", "load", "unload", "cancel", "rival", "move", "work"),
    *("serve", "equal", "policy", "heat", "shortage", "update"),
    *("declare", "attribute", "die", "spawn", "process", "perish", "turn", "root"),
}
"""What may happen before anything has arrived that the step before has brought about."""
_MAXIMA = (4, 1, 2, 3, 6, 8)
_WIDEST = 24
_UNITS = (1, 257, 65_537, 1, 2**28 - 1)
"""What the smallest model weighs: sums go up to a 32-bit integer."""


def _budget(number: int) -> Step:
    return _policy(number, Policy.BUDGET)


def _policy(number: int, policy: Policy) -> Step:
    maximum, unit = _MAXIMA[number % len(_MAXIMA)], _UNITS[number % len(_UNITS)]
    return Step("policy", number=maximum, priority=policy, unit=unit if maximum * unit < 2**31 else 1)


def _roomy(number: int) -> Step:
    """A budget of several models: of what one waits for, a part may be free."""
    return Step("policy", number=(3, 4, 6, 8)[number % 4], priority=Policy.BUDGET)


def _wide(number: int) -> Step:
    """A budget that may have room for very many models."""
    return Step(
        "policy", number=(_WIDEST, 4, 16, 2)[number % 4], priority=Policy.BUDGET if number % 5 else Policy.TURN_TAKING
    )


def _any_budget(number: int) -> Step:
    return _policy(number // 3, (Policy.BUDGET, Policy.BUDGET, Policy.TURN_TAKING)[number % 3])


def _reign(number: int) -> Step:
    """Status quo, and what comes after it."""
    return _policy(number // 4, (Policy.STATUS_QUO, Policy.BUDGET, Policy.STATUS_QUO, Policy.TURN_TAKING)[number % 4])


def _any_policy(number: int) -> Step:
    return _policy(number // 3, tuple(Policy)[number % 3])


def _search(
    context: CaseContext,
    policy: Callable[[int], Step],
    kinds: Sequence[str] = (),
    begin: Sequence[Step] = (),
    hurry: float = 0.0,
    crowd: int = APPS,
    share: int = 1,
) -> None:
    """Run random scenarios; the first that fails is cut down and raised.

    begin: what comes first. hurry: the share of steps that the next one follows before anything has arrived.
    crowd: how many of the apps do all that apps do. share: how many times as many scenarios as usual.
    """
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock what comes late cannot be told from what comes wrongly")
    kinds = kinds or _KINDS
    examples, length = _EXAMPLES[context.scope]
    examples *= share

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        def script(runner: BustleRunner) -> None:
            for step in begin:
                runner.run(step)
            _live(runner, policy, chance, chance.choices(kinds, k=length), hurry, crowd)

        _run(context, script, steps)

    search(context, examples, attempt, partial(_replay, context))


def _live(
    runner: BustleRunner,
    policy: Callable[[int], Step],
    chance: random.Random,
    kinds: Sequence[str],
    hurry: float,
    crowd: int,
) -> None:
    """One scenario: a policy, apps at several importances, what happens, and its end."""
    runner.run(policy(chance.randrange(60)))
    for uid in runner.apps:
        runner.run(Step("move", uid, number=chance.choice(MOVES)))
    for kind in kinds:
        number = chance.randrange(60)
        if kind not in _QUICK:
            _rest(runner)
        step = (
            policy(number)
            if kind == "policy"
            else step_of(runner, kind, chance.choice(tuple(runner.apps)[-crowd:]), number)
        )
        if step is not None:
            runner.run(replace(step, soon=bool(hurry) and kind in _QUICK and chance.random() < hurry))
    _rest(runner)
    runner.drain()


def _rest(runner: BustleRunner) -> None:
    """Let what is under way arrive."""
    if runner.under_way:
        runner.run(Step("rest"))


def _run(context: CaseContext, script: Callable[[BustleRunner], None], steps: list[Step] | None = None) -> None:
    """Run a scenario on a device without history. steps: gets the steps."""
    fixture = ManagerFixture(context, Policy.STATUS_QUO)
    try:
        with recording_hal(fixture) as hal:
            runner = BustleRunner(fixture, hal)
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

    def script(runner: BustleRunner) -> None:
        for step in steps:
            runner.run(step)

    _run(context, script)
