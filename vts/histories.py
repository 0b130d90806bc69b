"""Random histories of one driver: several models, and everything else that it makes, live and work beside each other.

A small model says what each execution gives, what each buffer holds, and that no other byte changes. What fails is cut
down to the steps that matter, which the failure file holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import DicedStep, case_of_steps, search_drawn
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.histories.alike import let_all_end
from npu_conformance.vts.lib.histories.history import History, Known, known
from npu_conformance.vts.lib.histories.recipes import FREE, OF_EACH_TYPE, OPEN, RECIPES, TYPES, WITH_GRAPHS, Recipe
from npu_conformance.vts.lib.histories.steps import STEPS

cases = CaseGroup("vts.histories.driver", group=Group.EXECUTION)
_MODELS: dict[str, tuple[Sequence[Recipe], Sequence[Addition]]] = {
    "vts.histories.driver.graphs": (WITH_GRAPHS, ()),
    "vts.histories.driver.shapes": (OPEN, ()),
    "vts.histories.driver.arrangements": (FREE, ()),
    "vts.histories.driver.types": (OF_EACH_TYPE, TYPES),
}
"""The models of a case where they are not the usual ones, and types beside each other."""

_EXAMPLES = {Scope.SMOKE: (2, 20), Scope.DEFAULT: (48, 50), Scope.FULL: (200, 60)}
"""How many histories, of how many steps, by scope."""
_ALWAYS = (*("prepare", "run", "in_burst") * 2, *("in_burst", "release") * 2, "drop", "save", "restore", "run")
_CACHES = ("save", "save_again", "save_again", "restore", "spoil", "wrong_token")
_WORK = (*_ALWAYS, *("bind", "run_bound", "run_bound", "together") * 3, *_CACHES, *("drop",) * 2)
_BUFFERS = (
    *_ALWAYS,
    *("allocate", "fill", "read", "run") * 3,
    *("bind", "run_bound", "run_bound") * 2,
    *("drop", "prepare") * 3,
)
_FENCES = (*_ALWAYS, *("launch",) * 18, *("settle",) * 3, "bind", *("allocate", "fill") * 6, *("read",) * 3)
_DISTURBANCES = (
    "refused_request", "request_of_another", "wrong_data", "refused_model", "refused_allocation", "no_room", "no_room",
    "late", "empty_buffer", "buffer_twice", "without_role", "pixels", "wrong_copy", "unknown_token", "refused_launch",
    "late_again", "endless_loop", "in_burst",
)  # fmt: skip
_RESTORING = ("save", "wrong_token", "restore", "restore")
_DISTURBED = (
    *_BUFFERS,
    *("launch",) * 4,
    "settle",
    *_DISTURBANCES * 2,
    *("without_role", "empty_buffer", "allocate", "allocate", "fill") * 4,
    *("without_role",) * 8,
    *_RESTORING,
)

_OF_ALL = (*_WORK, *_BUFFERS, *_FENCES)
_SHAPES = (
    *_WORK,
    *_BUFFERS * 3,
    *("allocate",) * 9,
    *("launch",) * 9,
    *("settle",) * 2,
    *_DISTURBANCES * 2,
    *("contradiction",) * 3,
)

_REQUIREMENTS = (
    "NNHAL-PREPARE-013", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002", "NNHAL-EXECUTE-008", "NNHAL-EXECUTE-014",
    "NNHAL-BURST-009", "NNHAL-BURST-017", "NNHAL-TIMING-001", "NNHAL-SHAPE-002",
)  # fmt: skip
_OF_BUFFERS = (
    "NNHAL-MEMDOMAIN-004",
    "NNHAL-MEMDOMAIN-014",
    "NNHAL-MEMDOMAIN-015",
    "NNHAL-MEMDOMAIN-022",
    "NNHAL-MEMDOMAIN-026",
    "NNHAL-MEMDOMAIN-032",
)
_OF_FENCES = ("NNHAL-FENCED-005", "NNHAL-FENCED-007", "NNHAL-FENCED-010", "NNHAL-FENCED-012")
_OF_FAILURES = (
    "NNHAL-REQUEST-001",
    "NNHAL-MEMDOMAIN-016",
    "NNHAL-MEMDOMAIN-024",
    "NNHAL-MEMDOMAIN-025",
    "NNHAL-QOS-003",
    "NNHAL-BURST-012",
)


@cases.case("work", *_REQUIREMENTS, "NNHAL-CACHE-010", "NNHAL-CACHE-015")
def work(context: CaseContext) -> None:
    """Models, bursts, reusable executions and caches come and go, and every output is right."""
    _search(context, _WORK)


@cases.case("buffers", *_REQUIREMENTS, *_OF_BUFFERS, since=Version.V1_3)
def buffers(context: CaseContext) -> None:
    """The same with buffers of the driver between models."""
    _search(context, _BUFFERS)


@cases.case("fences", *_REQUIREMENTS, *_OF_FENCES, since=Version.V1_3)
def fences(context: CaseContext) -> None:
    """The same while executions wait for fences, and for each other; fences may fail."""
    _search(context, _FENCES)


@cases.case("disturbed", *_REQUIREMENTS, *_OF_FAILURES)
def disturbed(context: CaseContext) -> None:
    """What fails or is refused in between leaves nothing behind."""
    _search(context, _DISTURBED)


@cases.case("graphs", *_REQUIREMENTS, *_OF_BUFFERS, *_OF_FENCES, "NNHAL-CONTROLFLOW-016", since=Version.V1_3)
def graphs(context: CaseContext) -> None:
    """All this with models whose sums are in a branch, and whose arguments are named in another order."""
    _search(context, _OF_ALL)


@cases.case(
    "shapes", *_REQUIREMENTS, *_OF_BUFFERS, *_OF_FENCES, "NNHAL-PREPARE-014", "NNHAL-MEMDOMAIN-029",
    "NNHAL-MEMDOMAIN-033",
)  # fmt: skip
def shapes(context: CaseContext) -> None:
    """All this with models that leave the number of rows to the request, and with failures in between."""
    _search(context, _SHAPES)


@cases.case(
    "arrangements", *_REQUIREMENTS, *_OF_BUFFERS, *_OF_FENCES, "NNHAL-PREPARE-014", "NNHAL-MEMDOMAIN-029",
    "NNHAL-MEMDOMAIN-033",
)  # fmt: skip
def arrangements(context: CaseContext) -> None:
    """All this with models that leave the whole shape to the request: as many elements come in other dimensions."""
    _search(context, _SHAPES)


@cases.case("types", *_REQUIREMENTS, *_OF_BUFFERS, *_OF_FENCES)
def types(context: CaseContext) -> None:
    """All this with models that differ in their type, or in a zero point, beside each other."""
    _search(context, _SHAPES)


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    return case_of_steps(cases(), listed, DicedStep, {"start", *STEPS}, _replay_listed)


def _search(context: CaseContext, kinds: Sequence[str]) -> None:
    examples, length = _EXAMPLES[context.scope]
    subject = _known(context)

    def draw(chance: random.Random) -> list[str]:
        return ["start", "prepare", "prepare", *chance.choices(kinds, k=length), "settle"]

    search_drawn(context, examples, draw, partial(_live, context, subject))


def _live(context: CaseContext, subject: Known, steps: Sequence[DicedStep]) -> None:
    """Run a history to its end. A step that needs what is not there does nothing."""
    dice = next((step.dice for step in steps if step.do == "start"), 0)
    history = History(context, subject, random.Random(dice))
    try:
        for step in steps:
            if step.do in STEPS and (history.models or step.do == "prepare"):
                with history.telling():
                    STEPS[step.do](history, random.Random(step.dice))
                    with checks.about("NNHAL-EXECUTE-002"):
                        history.memories.check()
    finally:
        let_all_end(context, history.roots, history.pending)


def _replay_listed(context: CaseContext, steps: Sequence[DicedStep]) -> None:
    _live(context, _known(context), steps)


def _known(context: CaseContext) -> Known:
    return known(context, *_MODELS.get(context.case.id, (RECIPES, ())))
