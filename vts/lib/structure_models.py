"""Small sound models for the cases of structural rules, and how a case is written: one row for each model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    Operand,
    Operation,
    Subgraph,
)
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

INPUT, OUTPUT = OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT
TEMPORARY, OMITTED = OperandLifeTime.TEMPORARY_VARIABLE, OperandLifeTime.NO_VALUE
COPY, POOL = OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL

EXTENSION = 0x10005
"""A type or operation of the extension with prefix 1."""

MAPPING = (ExtensionNameAndPrefix("com.vendor.one", 1),)
"""The one extension of the models that use any."""

SIZE = 8
"""Bytes of the pool that a model is made with, and of two float32."""

Made = Model | Callable[[Memory], Model]
"""A model, or what makes it of a memory pool of SIZE bytes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One model. rule: the clause MODEL.<rule> that it breaks, or just does not. name: of the case, in small letters.

    requirements: ids without their NNHAL-. text: only the interface text has the rule, so that a device may take the
    model.
    """

    rule: str
    name: str
    model: Made
    requirements: tuple[str, ...]
    since: Version = OLDEST
    until: Version = NEWEST
    sound: bool = False
    text: bool = False

    @property
    def verb(self) -> str:
        """What a device does with the model."""
        return "may_refuse" if self.text else "accepts" if self.sound else "refuses"


def broken(rule: str, name: str, model: Made, *ids: str, since: Version = OLDEST, until: Version = NEWEST) -> Row:
    """A row whose model breaks the rule."""
    return Row(rule, name, model, ids, since, until)


def sound(rule: str, name: str, model: Made, *ids: str, since: Version = OLDEST, until: Version = NEWEST) -> Row:
    """A row whose model is legal: supported or not, it has to be answered."""
    return Row(rule, name, model, (*ids, "SUPPORT-002", "PREPARE-004"), since, until, sound=True)


def vague(rule: str, name: str, model: Made, *ids: str, since: Version = OLDEST, until: Version = NEWEST) -> Row:
    """A row whose model breaks a rule of the text that AOSP's validator does not look at."""
    return Row(rule, name, model, ids, since, until, text=True)


def tensor(
    operand_type: int = OperandType.TENSOR_FLOAT32,
    dimensions: Sequence[int] = (2,),
    lifetime: int = TEMPORARY,
    **rest: Any,
) -> Operand:
    """An operand, by default a temporary of two floats."""
    return Operand(operand_type, tuple(dimensions), lifetime=lifetime, **rest)


def constant(operand_type: int, dimensions: Sequence[int], offset: int, length: int, **rest: Any) -> Operand:
    """A constant in the operand values of the model."""
    return tensor(operand_type, dimensions, COPY, location=DataLocation(0, offset, length), **rest)


def reference(offset: int) -> Operand:
    """A reference to a subgraph."""
    location = DataLocation(0, offset, 0)
    return Operand(OperandType.SUBGRAPH, lifetime=OperandLifeTime.SUBGRAPH, location=location)


def graph(operands: Sequence[Operand], operations: Sequence[Operation]) -> Subgraph:
    """A graph whose lists of inputs and outputs and whose counts of consumers follow from the rest."""
    uses = [index for operation in operations for index in operation.inputs]
    counted = tuple(replace(operand, number_of_consumers=uses.count(i)) for i, operand in enumerate(operands))
    inputs = tuple(index for index, operand in enumerate(counted) if operand.lifetime == INPUT)
    outputs = tuple(index for index, operand in enumerate(counted) if operand.lifetime == OUTPUT)
    return Subgraph(counted, tuple(operations), inputs, outputs)


def with_operand(model: Model, index: int, **fields: Any) -> Model:
    """Change an operand of the main graph; lists and counts follow."""
    operands = list(model.main.operands)
    operands[index] = replace(operands[index], **fields)
    return replace(model, main=graph(operands, model.main.operations))


def with_operations(model: Model, *operations: Operation) -> Model:
    """Give the main graph other operations; lists and counts follow."""
    return replace(model, main=graph(model.main.operands, operations))


def within(model: Model, number: int, index: int, **fields: Any) -> Model:
    """Change an operand of a referenced graph; lists and counts follow."""
    graphs = list(model.referenced)
    operands = list(graphs[number].operands)
    operands[index] = replace(operands[index], **fields)
    graphs[number] = graph(operands, graphs[number].operations)
    return replace(model, referenced=tuple(graphs))


def unary(
    code: int, operand_type: int = OperandType.TENSOR_FLOAT32, dimensions: Sequence[int] = (2,), **rest: Any
) -> Model:
    """An operation from one input to one output of the same type."""
    operands = [tensor(operand_type, dimensions, lifetime, **rest) for lifetime in (INPUT, OUTPUT)]
    return Model(graph(operands, [Operation(code, (0,), (1,))]))


RELU = unary(OperationType.RELU)
"""The smallest model."""

ADD = Model(
    graph(
        [
            tensor(lifetime=INPUT),
            constant(OperandType.TENSOR_FLOAT32, [2], 0, SIZE),
            constant(OperandType.INT32, [], SIZE, 4),
            tensor(),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(OperationType.ADD, (0, 1, 2), (3,)), Operation(OperationType.RELU, (3,), (4,))],
    ),
    operand_values=bytes(SIZE + 4),
)
"""ADD of an input and a constant, then RELU. Operands: input, constant, activation, sum, output."""


def beside(operand: Operand, model: Model = RELU) -> Model:
    """A model with one more operand, which no operation uses: legal where it has a value (NNHAL-MODEL-056)."""
    return replace(model, main=graph([*model.main.operands, operand], model.main.operations))


def pooled(memory: Memory) -> Model:
    """ADD whose constant fills a pool."""
    return replace(with_operand(ADD, 1, lifetime=POOL), pools=(memory,))


_BRANCH = graph([tensor(lifetime=INPUT), tensor(lifetime=OUTPUT)], [Operation(OperationType.RELU, (0,), (1,))])
BRANCHES = Model(
    graph(
        [
            tensor(OperandType.TENSOR_BOOL8, [1], INPUT),
            reference(0),
            reference(1),
            tensor(lifetime=INPUT),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(OperationType.IF, (0, 1, 2, 3), (4,))],
    ),
    (_BRANCH, _BRANCH),
)
"""IF with a RELU in both branches. Operands: condition, then, else, input, output."""

_ONE = (1,)
_CONDITION = graph(
    [*[tensor(lifetime=INPUT, dimensions=_ONE)] * 2, tensor(OperandType.TENSOR_BOOL8, _ONE, OUTPUT)],
    [Operation(OperationType.LESS, (0, 1), (2,))],
)
_BODY = graph(
    [
        *[tensor(lifetime=INPUT, dimensions=_ONE)] * 2,
        constant(OperandType.INT32, [], 0, 4),
        tensor(lifetime=OUTPUT, dimensions=_ONE),
    ],
    [Operation(OperationType.ADD, (0, 1, 2), (3,))],
)
LOOP = Model(
    graph(
        [
            reference(0),
            reference(1),
            *[tensor(lifetime=INPUT, dimensions=_ONE)] * 2,
            tensor(lifetime=OUTPUT, dimensions=_ONE),
        ],
        [Operation(OperationType.WHILE, (0, 1, 2, 3), (4,))],
    ),
    (_CONDITION, _BODY),
    operand_values=bytes(4),
)
"""WHILE a < b: a += b. Operands: condition, body, a (carried from round to round), b (the same in all), output."""
