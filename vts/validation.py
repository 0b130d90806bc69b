"""Model validation: every invalid edit of a valid model is rejected, wherever a model can be handed in.

A case is one family of mutations over the stored vectors of one operation; each mutation is a sub-verdict. `--scope
full` takes all mutations of all vectors. The default scope draws, with the seed of the case, one vector of each type
combination, and one mutation of each kind for it.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import CacheClient, Handles
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import PreparationArguments
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict
from npu_conformance.vts.lib.mutations import FAMILIES, Family, Mutation
from npu_conformance.vts.lib.rejection import (
    REJECTION,
    asked_by_text_alone,
    expect_preparation_rejected,
    expect_rejected_at_prepare,
)
from npu_conformance.vts.lib.wrong_preparations import wrong_preparations

_behaviours = CaseGroup("vts.validation", group=Group.VALIDATION)


def cases() -> Iterator[Case]:
    """The behaviour tests, then each family over each operation that has vectors."""
    yield from _behaviours()
    texts = [_text(family) for family in FAMILIES]
    for operation in vectors.operations():
        headers = [header for header in vectors.headers(operation) if header.rejected is None]
        oldest_first = sorted(headers, key=lambda header: header.since)
        for family, text in zip(FAMILIES, texts, strict=True):
            oldest = next((header for header in oldest_first if _fits(header, family)), None)
            if oldest is not None:
                yield _family_case(operation, headers, family, oldest.since, text)


def _fits(header: VectorHeader, family: Family) -> bool:
    return header.since <= family.until and family.needs(header)


def _text(family: Family) -> str:
    tried = f"AOSP's VTS tries it: {family.aosp}." if family.aosp else "Interface text: AOSP's VTS does not try it."
    return f"{inspect.getdoc(family.mutate)}\n\nEvery model with such an edit is rejected. {tried}"


def _family_case(operation: str, headers: list[VectorHeader], family: Family, since: Version, text: str) -> Case:
    def run(context: CaseContext) -> None:
        draw = random.Random(context.seed)
        chosen = _vectors(context, [header for header in headers if _fits(header, family)], draw)
        if not chosen:
            raise NotApplicable(f"no vector of {operation} is legal in HAL {context.version}")
        if not sum(_rejects_family(context, header, family, draw) for header in chosen):
            raise NotApplicable(f"no vector of {operation} offers this edit in HAL {context.version}")

    return Case(
        f"vts.validation.{operation}.{family.name}",
        run,
        (*(f"NNHAL-{name}" for name in family.requirements), *REJECTION),
        text,
        since=max(family.since, since),
        until=family.until,
        group=Group.VALIDATION,
        operations=(operation,),
    )


def _vectors(context: CaseContext, headers: list[VectorHeader], draw: random.Random) -> list[VectorHeader]:
    legal = [header for header in headers if header.since <= context.version]
    if context.scope is Scope.FULL:
        return legal
    draw.shuffle(legal)
    return list({_types(header): header for header in legal}.values())


def _types(header: VectorHeader) -> frozenset[str]:
    """All types that occur, also of weights and parameters, which the header's own `types` leave out."""
    return frozenset(operand.type for operand in header.operands.values())


def _mutations(context: CaseContext, family: Family, model: Model, draw: random.Random) -> Sequence[Mutation]:
    if not family.since <= context.version <= family.until:
        return []
    found = list(family.mutate(model, context.version))
    if context.scope is Scope.FULL:
        return found
    draw.shuffle(found)
    return list({mutation.kind: mutation for mutation in found}.values())


def _rejects_family(context: CaseContext, header: VectorHeader, family: Family, draw: random.Random) -> int:
    """See the mutations of a vector rejected; return how many there were."""
    vector = vectors.load(header.operation, header.name)
    pool_of = context.filled_pool
    model = build_model(vector, context.version, create_pool=pool_of if family.pooled else None).model
    mutations, restarts = _mutations(context, family, model, draw), context.restarts
    for mutation in mutations:
        if family.pooled and context.restarts != restarts:
            break  # The host that knew the pool is dead, and its verdict is there.
        name = f"{header.name}.{mutation.label}"
        if context.wants(name):
            broken = mutation.breaks or family.requirements[:1]
            with (
                context.configuration(name),
                with_aosp_verdict("yes" if family.aosp and mutation.in_aosp else "no"),
                checks.about(*(f"NNHAL-{rule}" for rule in broken)),
                asked_by_text_alone(context, when=mutation.text_alone),
            ):
                expect_rejected_at_prepare(context, mutation.model)
    return len(mutations)


@_behaviours.case("model.cycle", "NNHAL-MODEL-047", *REJECTION, scope=Scope.SMOKE)
def cycle(context: CaseContext) -> None:
    """Three ADDs, two of which need each other's result, are rejected (AOSP: CycleTest)."""
    with with_aosp_verdict("yes"):
        expect_rejected_at_prepare(context, _cyclic_model())


@_behaviours.case("model.empty", "NNHAL-MODEL-001", *REJECTION, scope=Scope.SMOKE)
def empty(context: CaseContext) -> None:
    """A model without operations, and one without anything, are rejected."""
    model = _cyclic_model()
    with context.configuration("no_operations"), with_aosp_verdict("unknown"):
        expect_rejected_at_prepare(context, Model(main=Subgraph(model.main.operands, (), (), ())))
    with context.configuration("nothing"), with_aosp_verdict("no"):
        expect_rejected_at_prepare(context, Model(main=Subgraph((), (), (), ())))


@_behaviours.case("arguments.preference", "NNHAL-PREPARE-009", *REJECTION, since=Version.V1_1)
def preference(context: CaseContext) -> None:
    """An execution preference that does not exist is rejected (AOSP: mutateExecutionPreference)."""
    for value in (-1, 3):
        with context.configuration(f"preference_{'minus_1' if value < 0 else value}"), with_aosp_verdict("yes"):
            arguments, what = PreparationArguments(preference=value), f"a valid model with preference {value}"
            expect_preparation_rejected(context, addition.model(), arguments, what=what)


@_behaviours.case("arguments.priority", "NNHAL-PREPARE-010", *REJECTION, since=Version.V1_3)
def priority(context: CaseContext) -> None:
    """A priority that does not exist is rejected (AOSP: mutateExecutionPriority)."""
    for value in (-1, 3):
        with context.configuration(f"priority_{'minus_1' if value < 0 else value}"), with_aosp_verdict("yes"):
            arguments, what = PreparationArguments(priority=value), f"a valid model with priority {value}"
            expect_preparation_rejected(context, addition.model(), arguments, what=what)


@_behaviours.case("arguments.deadline", "NNHAL-QOS-008", *REJECTION, since=Version.FL5)
def deadline(context: CaseContext) -> None:
    """A deadline below -1, which stands for none, is rejected. Interface text: AOSP's VTS does not try it."""
    for name, value in {"minus_2": -2, "smallest": -(2**63)}.items():
        with context.configuration(f"deadline_{name}"), with_aosp_verdict("no"):
            arguments, what = PreparationArguments(deadline_ns=value), f"a valid model with deadline {value} ns"
            expect_preparation_rejected(context, addition.model(), arguments, what=what)


@_behaviours.case(
    "arguments.beside_others",
    "NNHAL-PREPARE-009",
    "NNHAL-PREPARE-010",
    "NNHAL-QOS-008",
    "NNHAL-MODEL-001",
    *REJECTION,
    since=Version.V1_2,
)
def beside_others(context: CaseContext) -> None:
    """What is wrong is rejected whatever stands beside it: a token, a distant deadline, hints, files of a cache."""
    client = CacheClient(context)
    for wrong in wrong_preparations(context.version):
        for files, handles in {"no_files": Handles((), ()), "files": client.cache().handles()}.items():
            with (
                context.configuration(f"{wrong.name}.{files}"),
                with_aosp_verdict("unknown" if files == "files" and wrong.aosp == "yes" else wrong.aosp),
                checks.about(wrong.breaks),
                client.opened(handles) as (model_cache, data_cache),
            ):
                arguments = replace(wrong.arguments, model_cache=model_cache, data_cache=data_cache)
                expect_preparation_rejected(context, wrong.model, arguments, what=wrong.words)


def _tensor(lifetime: OperandLifeTime, consumers: int) -> Operand:
    return Operand(OperandType.TENSOR_FLOAT32, (2,), lifetime=lifetime, number_of_consumers=consumers)


def _cyclic_model() -> Model:
    temporary = OperandLifeTime.TEMPORARY_VARIABLE
    activation = Operand(OperandType.INT32, lifetime=OperandLifeTime.SUBGRAPH_INPUT, number_of_consumers=3)
    operands = (
        _tensor(OperandLifeTime.SUBGRAPH_INPUT, 2),
        _tensor(OperandLifeTime.SUBGRAPH_INPUT, 1),
        activation,
        _tensor(temporary, 1),
        _tensor(temporary, 2),
        _tensor(OperandLifeTime.SUBGRAPH_OUTPUT, 0),
    )
    operations = (
        Operation(OperationType.ADD, (0, 4, 2), (3,)),
        Operation(OperationType.ADD, (1, 3, 2), (4,)),
        Operation(OperationType.ADD, (4, 0, 2), (5,)),
    )
    return Model(main=Subgraph(operands, operations, (0, 1, 2), (5,)))
