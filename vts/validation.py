"""Model validation: every invalid edit of a valid model is refused, wherever a model can be handed in.

A case is one family of mutations over the stored vectors of one operation; each mutation is a sub-verdict. The default
scope takes one vector for each type combination, `--scope full` takes all.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.cases import Behaviours, Case, Group, Scope
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import NotApplicable
from npu_conformance.specs import vectors
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.neuralnetworks.enums import (
    OperandLifeTime,
    OperandType,
    OperationType,
)
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.vectors import VectorHeader
from npu_conformance.specs.versions import Version
from npu_conformance.vts.mutations import FAMILIES, Family
from npu_conformance.vts.refusal import preparation_refused, refused_at_once

_behaviours = Behaviours("vts.validation", group=Group.VALIDATION)


def cases() -> Iterator[Case]:
    """The behaviour tests, then each family over each operation that has vectors."""
    yield from _behaviours()
    for operation in vectors.operations():
        headers = [header for header in vectors.headers(operation) if header.rejected is None]
        for name, (family, requirements) in FAMILIES.items():
            yield _family_case(operation, headers, name, family, requirements)


def _family_case(
    operation: str, headers: list[VectorHeader], name: str, family: Family, requirements: tuple[str, ...]
) -> Case:
    def run(trial: Trial) -> None:
        chosen = _chosen([header for header in headers if header.since <= trial.version], trial.scope)
        if not chosen:
            raise NotApplicable(f"no vector of {operation} is legal in HAL {trial.version}")
        tried = sum(_refuses_family(trial, header, family) for header in chosen)
        if not tried:
            raise NotApplicable(f"no vector of {operation} offers this edit in HAL {trial.version}")

    return Case(
        f"vts.validation.{operation}.{name}", run, requirements, family.__doc__ or "",
        since=min(header.since for header in headers), group=Group.VALIDATION, operations=(operation,),
    )  # fmt: skip


def _chosen(headers: list[VectorHeader], scope: Scope) -> list[VectorHeader]:
    if scope is Scope.FULL:
        return headers
    return list({header.types: header for header in reversed(headers)}.values())


def _refuses_family(trial: Trial, header: VectorHeader, family: Family) -> int:
    """See every mutation of a vector refused; return how many there were."""
    built = build_model(vectors.load(header.operation, header.name), trial.version)
    tried = 0
    for mutation in family(built.model, trial.version):
        tried += 1
        with trial.configuration(f"{header.name}.{mutation.label}"):
            refused_at_once(trial, mutation.model)
    return tried


@_behaviours.case("model.cycle", "NNHAL-MODEL-047", scope=Scope.SMOKE)
def cycle(trial: Trial) -> None:
    """Three ADDs, two of which need each other's result: AOSP's CycleTest."""
    refused_at_once(trial, _cyclic_model())


@_behaviours.case("model.empty", "NNHAL-MODEL-001", scope=Scope.SMOKE)
def empty(trial: Trial) -> None:
    """A model without operations, and one without anything."""
    model = _cyclic_model()
    with trial.configuration("no_operations"):
        refused_at_once(trial, Model(main=Subgraph(model.main.operands, (), (), ())))
    with trial.configuration("nothing"):
        refused_at_once(trial, Model(main=Subgraph((), (), (), ())))


@_behaviours.case("arguments.preference", "NNHAL-PREPARE-009", since=Version.V1_1)
def preference(trial: Trial) -> None:
    """An execution preference that does not exist."""
    for value in (-1, 3):
        with trial.configuration(f"preference_{'minus_1' if value < 0 else value}"):
            preparation_refused(trial, _addition(), preference=value)


@_behaviours.case("arguments.priority", "NNHAL-PREPARE-010", since=Version.V1_3)
def priority(trial: Trial) -> None:
    """A priority that does not exist."""
    for value in (-1, 3):
        with trial.configuration(f"priority_{'minus_1' if value < 0 else value}"):
            preparation_refused(trial, _addition(), priority=value)


def _tensor(lifetime: OperandLifeTime, consumers: int) -> Operand:
    return Operand(OperandType.TENSOR_FLOAT32, (2,), lifetime=lifetime, number_of_consumers=consumers)


def _addition() -> Model:
    """The smallest valid model: output = input + input, with the activation as an input."""
    activation = Operand(OperandType.INT32, lifetime=OperandLifeTime.SUBGRAPH_INPUT, number_of_consumers=1)
    operands = (
        _tensor(OperandLifeTime.SUBGRAPH_INPUT, 2),
        activation,
        _tensor(OperandLifeTime.SUBGRAPH_OUTPUT, 0),
    )
    return Model(main=Subgraph(operands, (Operation(OperationType.ADD, (0, 0, 1), (2,)),), (0, 1), (2,)))


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
