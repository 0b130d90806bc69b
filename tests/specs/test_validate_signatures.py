"""Every signature and type combination of the catalogue, as a model of one operation: legal since its version only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import pytest

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_tables import Argument, Signature
from npu_conformance.specs.neuralnetworks.types import (
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version

CONTROL_FLOW = {"IF", "WHILE"}
NAMES = [name for name in catalogue.names() if name not in CONTROL_FLOW]


@dataclass(frozen=True)
class Call:
    """An operation with arguments of one type combination, and the first version that has it."""

    name: str
    signature: Signature
    combination: dict[str, str]
    inputs: list[Argument]
    outputs: list[Argument]
    since: Version


def calls(name: str) -> Iterator[Call]:
    """Every signature, count and type combination of an operation."""
    for signature in catalogue.operation(name).signatures:
        for since, combinations in signature.types.items():
            for combination in combinations:
                for inputs, outputs, needed in shapes_of(signature):
                    yield Call(name, signature, combination, inputs, outputs, max(since, needed))


def shapes_of(signature: Signature) -> Iterator[tuple[list[Argument], list[Argument], Version]]:
    """Every legal number of inputs and outputs, with the version that brought it."""
    lengths = signature.input_counts or (len(signature.inputs), len(signature.inputs) + 2)
    results = signature.output_counts or {signature.since: (len(signature.outputs),)}
    for length in lengths:
        inputs = catalogue.expand(signature.inputs, length)
        assert inputs is not None
        for since, counts in results.items():
            for count in counts:
                outputs = catalogue.expand(signature.outputs, count)
                assert outputs is not None
                yield inputs, outputs, max([since, *(argument.since or since for argument in inputs)])


def operand(argument: Argument, combination: dict[str, str], lifetime: int) -> Operand:
    kind = OperandType[combination.get(argument.type, argument.type)]
    info = OPERAND_TYPES[kind]
    rank = argument.rank[0] if argument.rank else 1
    per_channel = kind is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
    return Operand(
        kind,
        (1,) * rank if info.is_tensor else (),
        0.5 if info.is_quantized and not per_channel else 0.0,
        lifetime=lifetime,
        extra_params=OperandExtraParams(SymmPerChannelQuantParams((0.5,), 0)) if per_channel else None,
        number_of_consumers=int(lifetime == OperandLifeTime.SUBGRAPH_INPUT),
    )


def model(call: Call) -> Model:
    sides = [(call.inputs, OperandLifeTime.SUBGRAPH_INPUT), (call.outputs, OperandLifeTime.SUBGRAPH_OUTPUT)]
    operands = tuple(operand(one, call.combination, lifetime) for side, lifetime in sides for one in side)
    split = len(call.inputs)
    first, second = tuple(range(split)), tuple(range(split, len(operands)))
    code = catalogue.operation(call.name).code
    return Model(Subgraph(operands, (Operation(code, first, second),), first, second))


def clauses(model: Model, version: Version) -> set[str]:
    return {violation.clause for violation in validate_model(model, version)}


@pytest.mark.parametrize("name", NAMES)
def test_every_combination_is_legal_since_its_version(name: str) -> None:
    for call in calls(name):
        made = model(call)
        for version in Version:
            if version >= call.since:
                assert validate_model(made, version) == []
            else:
                assert clauses(made, version) & {"MODEL.P3", "MODEL.P1", "MODEL.O1"}


def without(call: Call) -> Model:
    """The model without the last input of the operation."""
    made = model(call)
    index = len(call.inputs) - 1
    operands = list(made.main.operands)
    operands[index] = msgspec.structs.replace(operands[index], number_of_consumers=0)
    (operation,) = made.main.operations
    shorter = msgspec.structs.replace(operation, inputs=operation.inputs[:-1])
    return Model(msgspec.structs.replace(made.main, operands=tuple(operands), operations=(shorter,)))


@pytest.mark.parametrize("name", NAMES)
def test_an_input_less_is_legal_only_where_the_table_says_so(name: str) -> None:
    accepted = {types_of(call) for call in calls(name)}
    for call in calls(name):
        if call.signature.input_counts is not None:
            inputs, outputs = types_of(call)
            expected = set() if (inputs[:-1], outputs) in accepted else {"MODEL.P3"}
            assert clauses(without(call), Version.FL8) == expected


def types_of(call: Call) -> tuple[tuple[int, ...], tuple[int, ...]]:
    operands = model(call).main.operands
    split = len(call.inputs)
    return tuple(one.type for one in operands[:split]), tuple(one.type for one in operands[split:])


@pytest.mark.parametrize("name", NAMES)
def test_an_output_more_or_less_is_refused(name: str) -> None:
    call = next(calls(name))
    if call.signature.output_counts or any(argument.repeat for argument in call.outputs):
        return
    made = model(call)
    (operation,) = made.main.operations
    for outputs in ((), (*operation.outputs, *operation.outputs)):
        changed = msgspec.structs.replace(made.main, operations=(msgspec.structs.replace(operation, outputs=outputs),))
        assert "MODEL.P3" in clauses(Model(changed), Version.FL8)


@pytest.mark.parametrize("name", NAMES)
def test_each_type_is_checked(name: str) -> None:
    """An operand of a type that no combination has at its place is refused."""
    accepted = {types_of(call) for call in calls(name)}
    call = next(calls(name))
    made = model(call)
    places = len(call.inputs) + len(call.outputs)
    for place in range(places):
        operands = list(made.main.operands)
        operands[place] = Operand(
            OperandType.UINT32,
            lifetime=operands[place].lifetime,
            number_of_consumers=operands[place].number_of_consumers,
        )
        changed = Model(msgspec.structs.replace(made.main, operands=tuple(operands)))
        assert clauses(changed, Version.FL8) == {"MODEL.P3"}
    assert all(OperandType.UINT32 not in (*inputs, *outputs) for inputs, outputs in accepted)


@pytest.mark.parametrize("name", NAMES)
def test_each_rank_is_checked_where_it_is_known(name: str) -> None:
    call = next(calls(name))
    made = model(call)
    for place, argument in enumerate([*call.inputs, *call.outputs]):
        operands = list(made.main.operands)
        if not OPERAND_TYPES[operands[place].type].is_tensor:
            continue
        operands[place] = msgspec.structs.replace(operands[place], dimensions=(1,) * 9)
        changed = Model(msgspec.structs.replace(made.main, operands=tuple(operands)))
        assert clauses(changed, Version.FL8) == ({"MODEL.P3R"} if argument.rank else set())
        operands[place] = msgspec.structs.replace(operands[place], dimensions=())
        changed = Model(msgspec.structs.replace(made.main, operands=tuple(operands)))
        assert clauses(changed, Version.FL8) == set()


@pytest.mark.parametrize("name", NAMES)
def test_only_optional_inputs_are_omitted(name: str) -> None:
    for call in calls(name):
        made = model(call)
        for place, argument in enumerate(call.inputs):
            omitted = msgspec.structs.replace(made.main.operands[place], lifetime=OperandLifeTime.NO_VALUE)
            operands = (*made.main.operands[:place], omitted, *made.main.operands[place + 1 :])
            listed = tuple(index for index in made.main.input_indexes if index != place)
            changed = Model(msgspec.structs.replace(made.main, operands=operands, input_indexes=listed))
            assert clauses(changed, Version.FL8) == (set() if argument.optional else {"MODEL.P3O"})


def test_an_input_that_a_request_may_leave_out_has_any_rank() -> None:
    squeeze = next(calls("SQUEEZE"))
    made = model(squeeze)
    for dimensions, expected in (((0, 0), set()), ((1, 1), {"MODEL.P3R"})):
        left_out = msgspec.structs.replace(made.main.operands[1], dimensions=dimensions)
        operands = (made.main.operands[0], left_out, made.main.operands[2])
        changed = Model(msgspec.structs.replace(made.main, operands=operands))
        assert clauses(changed, Version.FL8) == expected
