"""Random scenarios of apps, configs and cancellations, judged by what holds of every event, and by what is left.

What fails is cut down to the steps that matter, which the failure file holds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import MOST_SECONDS, case_of_steps, search
from npu_conformance.specs.npu.types import ROOT_UID
from npu_conformance.specs.npu.workload import OWN_WORK
from npu_conformance.vts.lib.npu_scheduling import burst_steps as draw
from npu_conformance.vts.lib.npu_scheduling import order as ordered
from npu_conformance.vts.lib.npu_scheduling.bursts import BURST_DEEDS, BurstScenario
from npu_conformance.vts.lib.npu_scheduling.fixture import scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.scenario import DEEDS, Step, WorkScenario

cases = CaseGroup("vts.npu_scheduling.machine", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_EXAMPLES = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (24, 24), Scope.FULL: (100, 40)}
_TURNS_TAKEN = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (16, 28), Scope.FULL: (100, 40)}
_ORDERS = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (20, 40), Scope.FULL: (100, 50)}
_RERANKINGS = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (18, 40), Scope.FULL: (100, 50)}
"""How many scenarios, of how many steps, by scope; those in which apps take turns; and those in which they compete,
and in which their ranks change.
"""

_REQUIREMENTS = (
    "NPU-HAL-007", "NPU-HAL-008", "NPU-HAL-011", "NPU-HAL-012", "NPU-HAL-013", "NPU-HAL-014", "NPU-HAL-015",
    "NPU-HAL-021", "NPU-HAL-023", "NPU-HAL-024", "NPU-HAL-026", "NPU-HAL-029", "NPU-HAL-030", "NPU-HAL-031",
    "NPU-HAL-032", "NPU-HAL-033", "NPU-HAL-034", "NPU-HAL-040", "NPU-HAL-041",
)  # fmt: skip

_BURSTS = (
    "NPU-HAL-001", "NPU-HAL-002", "NPU-HAL-003", "NPU-HAL-004", "NPU-HAL-005", "NPU-HAL-006", "NPU-HAL-010",
    "NPU-HAL-016", "NPU-HAL-017", "NPU-HAL-018", "NPU-HAL-019", "NPU-HAL-020", "NPU-HAL-022", "NPU-HAL-024",
    "NPU-HAL-025", "NPU-HAL-026", "NPU-HAL-027", "NPU-HAL-028", "NPU-HAL-036",
)  # fmt: skip

_APPS = 3
_SPANS_MS = (1, 4, 10, 20, 33, 45, 60, 150, 600, 900)
"""From less than an inference to more than a run and the debounce time."""
_PRIORITIES = (0, 100, 255, 257, 400, 999, 1000)
_JOBS = (0, 1, 255, 500, 513, 1000)
_SPREADS = (-1, -1, 0, 1, 300)
_WORK = (*("run",) * 5, *("pass",) * 7, *("update",) * 2, "set", "clear")
_RIVALS = (*("run",) * 6, *("pass",) * 7, *("update", "set", "swap") * 2, "cancel", "system")
_RERANKED = (*("run",) * 5, *("pass",) * 8, *("update",) * 3, *("swap",) * 6, *("level",) * 3)
_SHORT_MS = (4, 10, 20, 33, 60, 150)
_RIVAL_APPS = 4
_ORIGINALS = (*(ordered.OWN,) * 6, *range(_RIVAL_APPS))
_RIVAL_PRIORITIES, _RIVAL_JOBS = (0, 100, 400, 700, 1000), (0, 300, 600)
"""Of which many sums are equal."""
_DISTURBANCES = ("cancel", "system", "fail")
"""Each scenario has one of them: so the reason of every end is known."""


@cases.case("work", *_REQUIREMENTS)
def work(context: CaseContext) -> None:
    """Random runs under changing configs are notified as what was submitted, all end, and nothing is left."""
    _search(context, lambda _: _WORK)


@cases.case("disturbed_work", *_REQUIREMENTS)
def disturbed_work(context: CaseContext) -> None:
    """The same where work is cancelled by its app or by the system, or fails."""
    _search(context, lambda chance: (*_WORK, *(chance.choice(_DISTURBANCES),) * 5))


@cases.case("bursts", *_REQUIREMENTS, *_BURSTS)
def bursts(context: CaseContext) -> None:
    """Apps that take turns are notified as the rules say, whoever they are, and whatever happens in between."""
    _search_bursts(context, early=0)


@cases.case("ended_bursts", *_REQUIREMENTS, *_BURSTS)
def ended_bursts(context: CaseContext) -> None:
    """The same where works are ended before their time, by their app, by the system, or by the hardware."""
    _search_bursts(context, early=4)


@cases.case(
    "order",
    "NPU-HAL-009",
    "NPU-HAL-003",
    "NPU-HAL-001",
    "NPU-HAL-020",
    "NPU-HAL-021",
    "NPU-HAL-030",
    "NPU-HAL-031",
    "NPU-HAL-032",
)
def order(context: CaseContext) -> None:
    """Under a promise to interrupt weaker work the strongest is never held up, and none is paused for weaker."""
    _search_order(context, _RIVALS, _SPANS_MS, _ORDERS)


@cases.case("changing_order", "NPU-HAL-009", "NPU-HAL-003", "NPU-HAL-030", "NPU-HAL-031")
def changing_order(context: CaseContext) -> None:
    """The same where the ranks of apps change again and again while works run, wait and are paused."""
    _search_order(context, _RERANKED, _SHORT_MS, _RERANKINGS)


def _search_order(
    context: CaseContext, kinds: Sequence[str], spans: Sequence[int], sizes: Mapping[Scope, tuple[int, int]]
) -> None:
    examples, length = sizes[context.scope]
    devices: list[int | None] = []

    def attempt(chance: random.Random, steps: list[ordered.Step]) -> None:
        with scheduling_fixture(context) as npu:
            scenario = ordered.Order(npu, tuple(devices))
            scenario.steps, devices[:] = steps, scenario.devices
            for kind in chance.choices(kinds, k=length):
                scenario.run(_rivalry(kind, chance, spans))
            scenario.judge()

    search(context, examples, attempt, partial(_replay_order, context), MOST_SECONDS)


def _rivalry(kind: str, chance: random.Random, spans: Sequence[int]) -> ordered.Step:
    """A step of this kind."""
    app, device = chance.randrange(_RIVAL_APPS), chance.randrange(2)
    number = chance.choice({"run": _RIVAL_JOBS, "pass": spans}.get(kind, _RIVAL_PRIORITIES))
    original = chance.choice(_ORIGINALS) if kind == "run" else ordered.OWN
    return ordered.Step(kind, app, number, device, original)


def _replay_order(context: CaseContext, steps: Sequence[ordered.Step]) -> None:
    with scheduling_fixture(context) as npu:
        ordered.replay(npu, steps)


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    if listed["id"].endswith("order"):
        return case_of_steps(cases(), listed, ordered.Step, ordered.DEEDS, _replay_order)
    if listed["id"].endswith("bursts"):
        return case_of_steps(cases(), listed, draw.Step, BURST_DEEDS, _replay_bursts)
    return case_of_steps(cases(), listed, Step, DEEDS, _replay)


def _search(context: CaseContext, kinds: Callable[[random.Random], Sequence[str]]) -> None:
    examples, length = _EXAMPLES[context.scope]
    devices: list[int | None] = []

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        def script(scenario: WorkScenario) -> None:
            scenario.steps = steps
            for app in chance.sample(range(_APPS), 2):
                scenario.run(_config(app, chance))
            for kind in chance.choices(kinds(chance), k=length):
                scenario.run(_step(scenario, kind, chance))

        devices[:] = _live(context, script, devices)

    search(context, examples, attempt, partial(_replay, context))


def _step(scenario: WorkScenario, kind: str, chance: random.Random) -> Step:
    """A step of this kind."""
    app = chance.randrange(_APPS)
    if kind == "run":
        originals = (OWN_WORK, OWN_WORK, scenario.apps[app].uid, scenario.apps[app - 1].uid, ROOT_UID)
        job, original = chance.choice(_JOBS), chance.choice(originals)
        return Step(kind, app, job, original, chance.randrange(4), chance.random() < 0.5)
    if kind == "pass":
        return Step(kind, number=chance.choice(_SPANS_MS))
    return _config(app, chance, kind) if kind in ("update", "set") else Step(kind, app)


def _config(app: int, chance: random.Random, kind: str = "update") -> Step:
    """An app gets a config, mostly with its rights."""
    rights: dict[str, bool] = {"direct": chance.random() < 0.8, "attribute": chance.random() < 0.7}
    return Step(kind, app, chance.choice(_PRIORITIES), spread=chance.choice(_SPREADS), **rights)


def _live(
    context: CaseContext, script: Callable[[WorkScenario], None], devices: Sequence[int | None] = ()
) -> Sequence[int | None]:
    """Run a scenario to its end, and judge it. devices: see WorkScenario; returns them."""
    with scheduling_fixture(context) as npu:
        scenario = WorkScenario(npu, tuple(devices))
        script(scenario)
        scenario.judge()
        return scenario.devices


def _replay(context: CaseContext, steps: Sequence[Step]) -> None:
    """Run listed steps."""

    def script(scenario: WorkScenario) -> None:
        for step in steps:
            scenario.run(step)

    _live(context, script)


_TURNS = (
    *("run",) * 8,
    *("pause",) * 2,
    *("config",) * 4,
    *("register",) * 3,
    *("refuse",) * 3,
    "empty",
    "remove",
    "nowhere",
)


def _search_bursts(context: CaseContext, early: int) -> None:
    """early: in how many ways works end before their time, that with none included; 0 for none."""
    examples, length = _TURNS_TAKEN[context.scope]
    known: dict[str, Any] = {}

    def attempt(chance: random.Random, steps: list[draw.Step]) -> None:
        with scheduling_fixture(context) as npu:
            scenario = BurstScenario(npu, steps=steps, **known)
            known.update(devices=scenario.devices, shortest_ms=scenario.shortest_ms)
            for _ in range(length):
                after_work = bool(steps) and steps[-1].do == "run" and chance.random() < 0.4
                kind = "pause" if after_work else chance.choice(_TURNS)
                scenario.run(_turn(kind, chance, early, steps))
            scenario.judge()

    search(context, examples, attempt, partial(_replay_bursts, context))


def _turn(kind: str, chance: random.Random, early: int, steps: Sequence[draw.Step]) -> draw.Step:
    """A step of this kind. Two uids work mostly, so that bursts go on; others after they got a config."""
    app = chance.choice((0, 0, 1, 1, *range(draw.WORKERS)))
    if kind == "run" and steps and steps[-1].do == "config":
        app = steps[-1].app
    place, process = chance.randrange(6), chance.randrange(2)
    if kind == "run":
        originals = (OWN_WORK, OWN_WORK, *draw.UIDS[: draw.WORKERS])
        labels = (chance.randrange(len(draw.FEATURES)), chance.randrange(3))
        end = chance.randrange(early) if early else 0
        deed = chance.randrange(draw.DEEDS if early else draw.QUIET_DEEDS) if chance.random() < 0.5 else 0
        return draw.Step(kind, app, chance.choice(_JOBS), chance.choice(originals), place, *labels, process, end, deed)
    if kind == "pause":
        return draw.Step(kind, number=chance.randrange(len(draw.PAUSES)), place=place)
    if kind == "config":
        rights: dict[str, bool] = {"direct": chance.random() < 0.7, "attribute": chance.random() < 0.6}
        calls: dict[str, bool] = {"replace": chance.random() < 0.3, "again": chance.random() < 0.4}
        return draw.Step(kind, app, chance.choice(_PRIORITIES), place=place, **rights, **calls)
    if kind == "register":
        ways = {"replace": chance.random() < 0.3, "again": chance.random() < 0.4}
        return draw.Step(kind, number=chance.choice(draw.DURATIONS_MS), early=process, place=place, **ways)
    is_set = chance.random() < 0.4
    return draw.Step(kind, app, chance.randrange(draw.REFUSALS), place=place, process=process, replace=is_set)


def _replay_bursts(context: CaseContext, steps: Sequence[draw.Step]) -> None:
    """Run listed steps."""
    with scheduling_fixture(context) as npu:
        scenario = BurstScenario(npu)
        for step in steps:
            scenario.run(step)
        scenario.judge()
