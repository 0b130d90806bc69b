"""Rules of subgraphs, IF and WHILE: one small edit that breaks each and nothing else, beside its sound original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from graphs import INPUT, OUTPUT, change, graph

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime as Life
from npu_conformance.specs.neuralnetworks.enums import OperandType as T
from npu_conformance.specs.neuralnetworks.enums import OperationType as Op
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version


def tensor(lifetime: int, dimensions: Sequence[int] = (2,), kind: int = T.TENSOR_FLOAT32) -> Operand:
    return Operand(kind, tuple(dimensions), lifetime=lifetime)


def reference(offset: int) -> Operand:
    return Operand(T.SUBGRAPH, lifetime=Life.SUBGRAPH, location=DataLocation(0, offset, 0))


Edit = Callable[[Model], Model]


def edit(index: int, **fields: Any) -> Edit:
    """An edit of one operand of the main graph; lists and consumer counts follow."""

    def apply(model: Model) -> Model:
        operands = list(model.main.operands)
        operands[index] = change(operands[index], **fields)
        return change(model, main=graph(operands, model.main.operations))

    return apply


def locate(index: int, *location: int) -> Edit:
    return edit(index, location=DataLocation(*location))


def inputs(*indexes: int) -> Edit:
    """Other inputs of the one operation of the main graph."""

    def apply(model: Model) -> Model:
        (operation,) = model.main.operations
        return change(model, main=graph(model.main.operands, [change(operation, inputs=indexes)]))

    return apply


BRANCH = graph([tensor(INPUT), tensor(OUTPUT)], [Operation(Op.RELU, (0,), (1,))])
IF = Model(
    graph(
        [tensor(INPUT, [1], T.TENSOR_BOOL8), reference(0), reference(1), tensor(INPUT), tensor(OUTPUT)],
        [Operation(Op.IF, (0, 1, 2, 3), (4,))],
    ),
    (BRANCH, BRANCH),
)
CONDITION = graph(
    [tensor(INPUT), tensor(INPUT, [1]), tensor(OUTPUT, [1], T.TENSOR_BOOL8)],
    [Operation(Op.LESS, (1, 1), (2,))],
)
NO_ACTIVATION = Operand(T.INT32, lifetime=Life.CONSTANT_COPY, location=DataLocation(0, 0, 4))
BODY = graph([tensor(INPUT), tensor(INPUT, [1]), NO_ACTIVATION, tensor(OUTPUT)], [Operation(Op.ADD, (0, 1, 2), (3,))])
WHILE = Model(
    graph(
        [reference(0), reference(1), tensor(INPUT), tensor(INPUT, [1]), tensor(OUTPUT)],
        [Operation(Op.WHILE, (0, 1, 2, 3), (4,))],
    ),
    (CONDITION, BODY),
    operand_values=bytes(4),
)
"""Operand 2 is carried from one round to the next, operand 3 is the same in all."""


def inner(subgraph: int, operand: int, **fields: Any) -> Edit:
    """An edit of an operand of a referenced graph; lists and consumer counts follow."""

    def apply(model: Model) -> Model:
        graphs = list(model.referenced)
        operands = list(graphs[subgraph].operands)
        operands[operand] = change(operands[operand], **fields)
        graphs[subgraph] = graph(operands, graphs[subgraph].operations)
        return change(model, referenced=tuple(graphs))

    return apply


def referring(offset: int) -> Subgraph:
    """A branch that refers to a graph without using it."""
    return graph([*BRANCH.operands, reference(offset)], BRANCH.operations)


def graphs(*referenced: Subgraph) -> Edit:
    return lambda model: change(model, referenced=referenced)


@dataclass(frozen=True)
class Broken:
    """A sound model, and an edit that breaks one rule."""

    rule: str
    what: str
    sound: Model
    apply: Edit


BROKEN = [
    Broken("MODEL.M4", "itself", IF, graphs(referring(0), BRANCH)),
    Broken("MODEL.M4", "each other", IF, graphs(referring(1), referring(0))),
    Broken("MODEL.M5", "one too many", IF, graphs(BRANCH, BRANCH, BRANCH)),
    Broken("MODEL.O11", "length", IF, locate(1, 0, 0, 1)),
    Broken("MODEL.O11", "pool", IF, locate(1, 1, 0, 0)),
    Broken("MODEL.O11", "no such graph", IF, graphs(referring(7), BRANCH)),
    Broken("MODEL.O11", "negative", IF, graphs(referring(-1), BRANCH)),
    Broken("MODEL.P3O", "branch input omitted", IF, edit(3, lifetime=Life.NO_VALUE)),
    Broken("MODEL.P3O", "loop input omitted", WHILE, edit(3, lifetime=Life.NO_VALUE)),
    Broken("MODEL.P5", "condition type", IF, edit(0, type=T.TENSOR_INT32)),
    Broken("MODEL.P5", "condition shape", IF, edit(0, dimensions=(2,))),
    Broken("MODEL.P5", "condition of unknown size", IF, edit(0, dimensions=(0,))),
    Broken("MODEL.P5", "branch is a tensor", IF, inputs(0, 1, 3, 3)),
    Broken("MODEL.P5", "input missing", IF, inputs(0, 1, 2)),
    Broken("MODEL.P5", "input too many", IF, inputs(0, 1, 2, 3, 3)),
    Broken("MODEL.P5", "two inputs", IF, inputs(0, 1)),
    Broken("MODEL.P6", "input missing", WHILE, inputs(0, 1, 2)),
    Broken("MODEL.P6", "no loop input", WHILE, inputs(0, 1)),
    Broken("MODEL.P6", "verdict shape", WHILE, inner(0, 2, dimensions=(2,))),
    Broken("MODEL.P6", "body is a tensor", WHILE, inputs(0, 2, 2, 3)),
    Broken("MODEL.P6", "condition is a tensor", WHILE, inputs(2, 1, 2, 3)),
    Broken("MODEL.P7", "size", IF, inner(0, 0, dimensions=(3,))),
    Broken("MODEL.P7", "rank", IF, inner(1, 0, dimensions=(2, 1))),
    Broken("MODEL.P7", "size of an output", IF, inner(1, 1, dimensions=(3,))),
    Broken("MODEL.P7", "type", IF, edit(3, type=T.TENSOR_INT32)),
    Broken("MODEL.P7", "scale", IF, edit(3, type=T.TENSOR_QUANT8_ASYMM, scale=0.5)),
    Broken("MODEL.P7", "loop size", WHILE, inner(0, 0, dimensions=(3,))),
    Broken("MODEL.P7", "size after a round", WHILE, inner(1, 3, dimensions=(1,))),
    Broken("MODEL.P8", "unknown size", WHILE, edit(2, dimensions=(0,))),
    Broken("MODEL.P8", "unknown rank", WHILE, inner(0, 0, dimensions=())),
    Broken("MODEL.P8", "unknown result", WHILE, edit(4, dimensions=(0,))),
]


def clauses(model: Model, version: Version = Version.V1_3) -> set[str]:
    return {violation.clause for violation in validate_model(model, version, text_rules=True)}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.rule} {case.what}")
@pytest.mark.parametrize("version", [Version.V1_3, Version.FL8])
def test_an_edit_breaks_one_rule(case: Broken, version: Version) -> None:
    assert clauses(case.sound, version) == set()
    assert clauses(case.apply(case.sound), version) == {case.rule}


SOUND = {
    "shared branch": graphs(BRANCH)(locate(2, 0, 0, 0)(IF)),
    "branch of unknown rank": inner(0, 0, dimensions=())(IF),
    "outer operand of unknown size": edit(3, dimensions=(0,))(IF),
}


@pytest.mark.parametrize("what", SOUND)
def test_what_is_legal_is_not_refused(what: str) -> None:
    assert validate_model(SOUND[what], Version.V1_3) == []


def test_rules_hold_in_every_subgraph() -> None:
    (violation,) = validate_model(inner(1, 2, scale=1.0)(WHILE), Version.FL5)
    assert (violation.clause, violation.subgraph, violation.operand) == ("MODEL.O4", 2, 2)
    assert violation.message == "subgraph 2: operand 2 (INT32): scale 1.0 must be 0"


def test_a_branch_may_be_empty_of_operations() -> None:
    identity = Subgraph(BRANCH.operands[:1], (), (0,), (0,))
    found = clauses(graphs(identity, BRANCH)(IF))
    assert "MODEL.M1" not in found


@pytest.mark.parametrize("model", [IF, WHILE])
def test_control_flow_is_as_old_as_1_3(model: Model) -> None:
    assert clauses(model, Version.V1_2) >= {"MODEL.O1", "MODEL.P1"}
    assert minimal_version(model) is Version.V1_3
