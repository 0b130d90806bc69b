"""Random scenarios of apps, configs and cancellations, judged by what holds of every event, and by what is left.

What fails is cut down to the steps that matter, which the failure file holds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import payload, search
from npu_conformance.specs.npu.types import ROOT_UID
from npu_conformance.specs.npu.workload import OWN_WORK
from npu_conformance.vts.lib.npu_scheduling.fixture import scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.scenario import Step, WorkScenario

cases = CaseGroup("vts.npu_scheduling.machine", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_EXAMPLES = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (24, 24), Scope.FULL: (100, 40)}
"""How many scenarios, of how many steps, by scope."""

_REQUIREMENTS = (
    "NPU-HAL-007", "NPU-HAL-008", "NPU-HAL-011", "NPU-HAL-012", "NPU-HAL-013", "NPU-HAL-014", "NPU-HAL-015",
    "NPU-HAL-021", "NPU-HAL-023", "NPU-HAL-029", "NPU-HAL-030", "NPU-HAL-031", "NPU-HAL-032", "NPU-HAL-033",
    "NPU-HAL-034", "NPU-HAL-040", "NPU-HAL-041",
)  # fmt: skip

_APPS = 3
_SPANS_MS = (1, 4, 10, 20, 33, 45, 60, 150, 600, 900)
"""From less than an inference to more than a run and the debounce time."""
_PRIORITIES = (0, 100, 255, 257, 400, 999, 1000)
_JOBS = (0, 1, 255, 500, 513, 1000)
_SPREADS = (-1, -1, 0, 1, 300)
_WORK = (*("run",) * 5, *("pass",) * 7, *("update",) * 2, "set", "clear")
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


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    found = next(case for case in cases() if case.id == listed["id"])
    steps = msgspec.convert(listed["steps"], list[Step])
    return replace(found, run=partial(_replay, steps=steps))


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
    context.attach(lambda: payload(context, steps))

    def script(scenario: WorkScenario) -> None:
        for step in steps:
            scenario.run(step)

    _live(context, script)
