"""Random histories of one operation: several of its models, and everything else that a driver makes, beside each other.

What `vts.histories` asks of additions is asked here of every operation, whose models come from vectors: parameters,
data and shapes come with the requests, optional inputs are left out, outputs are several, types are any.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from npu_conformance.corpus import vectors
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import DicedStep, case_of_steps, diced, search
from npu_conformance.harness.run.seeds import stable_hash
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.extensions import models as extensions
from npu_conformance.vts.lib.histories.alike import let_all_end
from npu_conformance.vts.lib.lacking import refused_of, require_operation
from npu_conformance.vts.lib.operation_histories.extension_models import of_extensions
from npu_conformance.vts.lib.operation_histories.history import History, Subject
from npu_conformance.vts.lib.operation_histories.known_models import KnownModel, of_operation
from npu_conformance.vts.lib.operation_histories.steps import STEPS
from npu_conformance.vts.lib.support import support

AREA = "vts.operation_histories"
_ANY, _EXTENSIONS = "operations", "extensions"
"""Subjects beside single operations: models of any, and of the reference's own extensions."""
_DRAWS_SAMPLES = "RANDOM_MULTINOMIAL"
"""What it has to give is known of many samples together alone: a history has no output to expect."""
_OPERATIONS = 12
"""So many are drawn whose models live beside each other."""

_FAMILIES = 3
"""Kinds of models in one history."""
_EXAMPLES = {Scope.SMOKE: (1, 20), Scope.DEFAULT: (4, 50), Scope.FULL: (40, 60)}
"""How many histories, of how many steps, by scope."""
_KINDS = (
    *("run", "in_burst", "launch", "allocate") * 4,
    *("run_bound", "bind") * 3,
    *("prepare", "together", "save", "no_room", "release", "wrong_request") * 2,
    "drop", "restore", "settle", "read", "wrong_axis",
)  # fmt: skip

_REQUIREMENTS = (
    "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002", "NNHAL-EXECUTE-018", "NNHAL-PREPARE-013", "NNHAL-PREPARE-014",
    "NNHAL-SHAPE-002",
)  # fmt: skip
_SINCE_1_2 = ("NNHAL-BURST-009", "NNHAL-CACHE-010", "NNHAL-SHAPE-004")
_SINCE_1_3 = ("NNHAL-FENCED-005", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-022")


def cases() -> Iterator[Case]:
    """A case for each operation, and two of several."""
    for operation in vectors.operations():
        yield from cases_under(operation)
    for subject in (_ANY, _EXTENSIONS):
        yield from cases_under(subject)


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation, or of all."""
    if subject == _ANY:
        yield _case(_ANY, (), "Models of several operations", Version.V1_0)
    elif subject == _EXTENSIONS:
        yield _case(_EXTENSIONS, ("NNHAL-EXTENSION-013",), "Models of the reference's extensions", Version.V1_2)
    elif subject in vectors.operations() and subject != _DRAWS_SAMPLES:
        since = min(header.since for header in vectors.headers(subject) if header.rejected is None)
        yield _case(subject, (result_requirement(subject),), "Several models of the operation", since, (subject,))


def _case(
    subject: str, requirements: Sequence[str], what: str, since: Version, operations: tuple[str, ...] = ()
) -> Case:
    return Case(
        f"{AREA}.{subject}.mixed",
        functools.partial(_run, subject),
        (*requirements, *_REQUIREMENTS, *_SINCE_1_2, *_SINCE_1_3),
        f"{what} live and work beside each other, in every way to execute, and every output is right.",
        since=since,
        group=Group.EXECUTION,
        operations=operations,
    )


def case_from(listed: Any) -> Case:
    """The case of a failure file: it runs the steps that are listed there."""
    return case_of_steps(cases(), listed, DicedStep, {"start", *STEPS}, _replay_listed)


def _run(subject: str, context: CaseContext) -> None:
    examples, length = _EXAMPLES[context.scope]
    known, numbers = Subject(_known(context, subject)), itertools.count()

    def attempt(chance: random.Random, steps: list[DicedStep]) -> None:
        kinds = [*["prepare"] * 4, *chance.choices(_KINDS, k=length), "settle"]
        steps += [DicedStep("start", next(numbers)), *diced(kinds, chance)]
        _live(context, known, steps)

    search(context, examples, attempt, functools.partial(_live, context, known))


def _replay_listed(context: CaseContext, steps: Sequence[DicedStep]) -> None:
    _live(context, Subject(_known(context, context.case.id.split(".")[2])), steps)


def _live(context: CaseContext, subject: Subject, steps: Sequence[DicedStep]) -> None:
    """Run a history to its end. A step that needs what is not there does nothing."""
    number = next((step.dice for step in steps if step.do == "start"), 0)
    dealt = _of_some_families(subject.models, context.seed, number)
    history = History(context, subject, dealt, random.Random(f"{context.seed} {number}"))
    try:
        for step in steps:
            if step.do in STEPS and (history.models or step.do in ("prepare", "save")):
                with history.telling():
                    STEPS[step.do](history, random.Random(step.dice))
                    with checks.about("NNHAL-EXECUTE-002"):
                        history.memory.check()
    finally:
        let_all_end(context, history.roots, history.pending)


def _of_some_families(known: Sequence[KnownModel], seed: int, number: int) -> list[KnownModel]:
    """The models that a history prepares: few kinds, so that those live beside each other that are nearly alike.

    One history after the other is dealt the next ones, so that each kind is met as often as any.
    """
    families = {one.family for one in known}

    def dealt(place: int) -> str:
        turn, at = divmod(place, len(families))
        return sorted(families, key=lambda family: stable_hash(f"{seed} {turn} {family}"))[at]

    chosen = {dealt(place) for place in range(number * _FAMILIES, (number + 1) * _FAMILIES)}
    return [one for one in known if one.family in chosen]


def _known(context: CaseContext, subject: str) -> list[KnownModel]:
    """The models of a subject that the device supports. NotSupported where there is none."""
    found = [one for one in _models(context, subject) if _is_supported(context, one)]
    if not found:
        raise NotSupported(f"no model of {subject} is supported")
    return found


def _models(context: CaseContext, subject: str) -> Iterable[KnownModel]:
    if subject == _EXTENSIONS:
        yield from _of_extensions(context)
        return
    if subject != _ANY:
        require_operation(context, subject)
    names = random.Random(context.seed).sample(vectors.operations(), _OPERATIONS) if subject == _ANY else [subject]
    for name in (name for name in names if not refused_of(context, name)):
        yield from of_operation(name, context.version, f"{context.seed} {name}")


def _of_extensions(context: CaseContext) -> Iterator[KnownModel]:
    listed = extensions.listed(context)
    if not listed & {extensions.FIBONACCI, extensions.ECHO}:
        raise NotApplicable("the device lists neither of the reference's extensions")
    return of_extensions(listed)


def _is_supported(context: CaseContext, known: KnownModel) -> bool:
    model = known.build(context.filled_pool, known.layouts[0])
    answers = support(context, model)
    return answers is not None and all(answers)
