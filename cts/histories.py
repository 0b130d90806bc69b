"""Random histories of one app: compilations, executions and memories live and work beside each other.

Drivers of any version share small models between them. Every output is the oracles', no other byte changes, and what is
refused in between leaves nothing behind. What fails is cut down to the steps that matter, which the failure file holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from npu_conformance.cts.lib.runtime.histories.history import AppHistory
from npu_conformance.cts.lib.runtime.histories.steps import STEPS
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import DicedStep, case_of_steps, search_drawn
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.histories.app", interface="runtime", group=Group.RUNTIME_EXECUTIONS)

_EXAMPLES = {Scope.SMOKE: (2, 15), Scope.DEFAULT: (24, 30), Scope.FULL: (200, 50)}
"""How many histories, of how many steps, by scope."""
_EXECUTIONS = (*("execute",) * 4, *("execute_again", "start") * 5, *("start",) * 3, "compile", "drop", "drop")
_MEMORIES = (*("allocate",) * 4, *("fill", "read") * 2)
_REFUSALS = (
    "computed_twice", "incomplete", "wrong_length", "without_role", "without_content", "burst_of_another", "wrong_copy",
)  # fmt: skip

_REQUIREMENTS = (
    "FW-EXE-002", "FW-EXE-003", "FW-EXE-013", "FW-EXE-016", "FW-EXE-017", "FW-EXE-019", "FW-EXE-023", "FW-PRT-001",
    "FW-PRT-006", "FW-GEN-001", "FW-CAC-003",
)  # fmt: skip


@cases.case("executions", *_REQUIREMENTS, since=Version.V1_3)
def executions(context: CaseContext) -> None:
    """Executions of several compilations are computed in every way, again, and behind each other."""
    _search(context, _EXECUTIONS)


@cases.case("memories", *_REQUIREMENTS, "FW-MEM-003", "FW-MEM-006", "FW-MEM-011", "FW-MEM-014", since=Version.V1_3)
def memories(context: CaseContext) -> None:
    """The same with memory from descriptors between compilations."""
    _search(context, (*_EXECUTIONS, *_MEMORIES))


@cases.case(
    "disturbed", *_REQUIREMENTS, "FW-EXE-007", "FW-EXE-011", "FW-EXE-014", "FW-MEM-003", "FW-MEM-004", "FW-MEM-006",
    since=Version.V1_3,
)  # fmt: skip
def disturbed(context: CaseContext) -> None:
    """What is refused or fails in between leaves nothing behind."""
    _search(context, (*_EXECUTIONS, *_MEMORIES, *_REFUSALS * 2))


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    return case_of_steps(cases(), listed, DicedStep, {"start_app", *STEPS}, _live)


def _search(context: CaseContext, kinds: Sequence[str]) -> None:
    examples, length = _EXAMPLES[context.scope]

    def draw(chance: random.Random) -> list[str]:
        return ["start_app", "compile", "compile", *chance.choices(kinds, k=length)]

    search_drawn(context, examples, draw, partial(_live, context))


def _live(context: CaseContext, steps: Sequence[DicedStep]) -> None:
    """Run a history to its end. A step that needs what is not there does nothing."""
    dice = next((step.dice for step in steps if step.do == "start_app"), 0)
    history = AppHistory(context, random.Random(dice))
    try:
        for step in steps:
            if step.do in STEPS and (history.compilations or step.do == "compile"):
                with history.telling():
                    STEPS[step.do](history, random.Random(step.dice))
                    history.places.check()
    finally:
        history.app.close()
