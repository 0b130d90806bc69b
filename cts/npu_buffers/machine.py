"""Random scenarios of two apps' buffers, whose answers and bytes follow from what was asked before.

What fails is cut down to the steps that matter, which the failure file holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from npu_conformance.cts.lib import buffer_steps as drawn
from npu_conformance.cts.lib.buffer_fixture import BufferApp
from npu_conformance.cts.lib.buffer_shortage import ALLOCATORS, IDS, Shortage
from npu_conformance.cts.lib.buffer_shortage import DEEDS as SHORTAGE
from npu_conformance.cts.lib.buffer_steps import Step
from npu_conformance.cts.lib.buffer_upheaval import BufferUpheaval
from npu_conformance.cts.lib.shortage import most
from npu_conformance.harness.run.cases import Case, CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import case_of_steps, search

cases = CaseGroup("cts.npu_buffers.machine", interface="manager")

_EXAMPLES = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (24, 32), Scope.FULL: (100, 40)}
"""How many scenarios, of how many steps, by scope."""
_KINDS = (
    *("get",) * 9,
    *("map",) * 9,
    *("load",) * 4,
    *("wrong",) * 3,
    *("put", "unmap") * 2,
    *("mismap",) * 2,
    *("overlap", "hurry", "world", "turn") * 2,
    *("prefer", "die", "ask", "nothing", "kill"),
)
_SHORT_KINDS = (*("ask",) * 10, *("release", "load") * 3, *("hold", "free", "prefer") * 2, "die")
_EDGES = (0, 0, 0, 1, 500, 999, 1000, 1000)
"""Where parts begin and end, in thousandths."""


@cases.case("calls", *(f"NPU-BUF-0{number:02}" for number in (2, 3, 6, 7, 8, 9, 11, 12, 13, 14)))
def calls(context: CaseContext) -> None:
    """Random allocations, mappings, loads and releases are answered as they have to be, and no byte is lost."""
    examples, length = _EXAMPLES[context.scope]

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        scenario = BufferUpheaval(context)
        scenario.steps = steps
        for kind in chance.choices(_KINDS, k=length):
            scenario.run(_step(kind, chance, scenario))
        scenario.judge()
        _end(scenario)

    search(context, examples, attempt, partial(_replay, context))


@cases.case("shortage", *(f"NPU-BUF-0{number:02}" for number in (3, 6, 7, 8, 9, 10, 12, 13, 14)))
def shortage(context: CaseContext) -> None:
    """Where memory runs short, what becomes of each buffer is told, and so it is; nothing is lost without a word."""
    examples, length = _EXAMPLES[context.scope]
    largest = most(BufferApp(context).supported())

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        scenario = Shortage(context, largest)
        scenario.steps = steps
        for kind in chance.choices(_SHORT_KINDS, k=length):
            scenario.run(_shortage_step(kind, chance, scenario))
        scenario.end()

    search(context, examples, attempt, partial(_replay_shortage, context, largest))


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    known = SHORTAGE if listed["id"].endswith(".shortage") else BufferUpheaval.deeds
    return case_of_steps(cases(), listed, Step, known, _replay)


def _step(kind: str, chance: random.Random, scenario: BufferUpheaval) -> Step:
    """A step of this kind, mostly about a buffer that lives."""
    app = chance.randrange(drawn.APPS + 1)
    if kind != "get" and not scenario.buffers[app]:
        app = next((index for index, live in enumerate(scenario.buffers) if live), app)
    live = [*scenario.buffers[app]]
    low = chance.choice(_EDGES)
    high = chance.choice([edge for edge in _EDGES if edge >= low])
    ids = tuple(chance.sample(drawn.IDS, chance.randint(1, 3)))
    if kind == "put":
        ids = tuple(chance.sample(live, min(len(live), chance.randint(1, 2)))) + ids[: chance.randrange(2)]
    elif kind != "get":
        ids = (chance.choice(live[:3]) if live and chance.random() < 0.9 else ids[0],)
    number = chance.randrange(12)
    ways = {"with_file": chance.random() < 0.4, "stays": chance.random() < 0.7}
    return Step(kind, app, ids, number, chance.randrange(7), chance.randrange(4), low, high, **ways)


def _shortage_step(kind: str, chance: random.Random, scenario: Shortage) -> Step:
    """The same where memory is short. stays: the next step comes at once."""
    app = chance.randrange(ALLOCATORS)
    if kind not in ("ask", "die") and not scenario.buffers[app]:
        app = next((index for index, live in enumerate(scenario.buffers) if live), app)
    live = [*scenario.buffers[app]]
    identifier = chance.choice(live if live and kind != "ask" else IDS)
    return Step(kind, app, (identifier,), chance.randrange(12), chance.randrange(10), stays=chance.random() < 0.4)


def _end(scenario: BufferUpheaval) -> None:
    for app in scenario.apps:
        app.application.close()


def _replay(context: CaseContext, steps: Sequence[Step]) -> None:
    """Run listed steps."""
    if context.case.id.endswith(".shortage"):
        _replay_shortage(context, most(BufferApp(context).supported()), steps)
        return
    scenario = BufferUpheaval(context)
    for step in steps:
        scenario.run(step)
    scenario.judge()
    _end(scenario)


def _replay_shortage(context: CaseContext, largest: int, steps: Sequence[Step]) -> None:
    scenario = Shortage(context, largest)
    for step in steps:
        scenario.run(step)
    scenario.end()
