"""Each rule of a request: one small edit that breaks it and nothing else, beside its sound original."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    HardwareBufferDescription,
    Memory,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_request
from npu_conformance.specs.versions import Version

FLOAT, INT = OperandType.TENSOR_FLOAT32, OperandType.INT32
PIXELS = HardwareBufferDescription(width=4, height=4, layers=1, format=1)
BLOB = HardwareBufferDescription(width=64, height=1, layers=1, format=33)


def model(input_dimensions: tuple[int, ...] = (2,), output_dimensions: tuple[int, ...] = (2,)) -> Model:
    """ADD of an input and a constant in pool 0 (token 9); the activation is an input too."""
    operands = (
        Operand(FLOAT, input_dimensions, lifetime=OperandLifeTime.SUBGRAPH_INPUT),
        Operand(FLOAT, (2,), lifetime=OperandLifeTime.CONSTANT_POOL, location=DataLocation(0, 0, 8)),
        Operand(INT, lifetime=OperandLifeTime.SUBGRAPH_INPUT),
        Operand(FLOAT, output_dimensions, lifetime=OperandLifeTime.SUBGRAPH_OUTPUT),
    )
    graph = Subgraph(operands, (Operation(OperationType.ADD, (0, 1, 2), (3,)),), (0, 2), (3,))
    return Model(graph, pools=(Memory("ashmem", 8, token=9),))


def argument(pool: int, offset: int, length: int, **rest: Any) -> RequestArgument:
    return RequestArgument(location=DataLocation(pool, offset, length), **rest)


POOLS = (RequestMemoryPool(Memory("ashmem", 16, token=1)), RequestMemoryPool(Memory("ashmem", 16, token=2)))
REQUEST = Request((argument(0, 0, 8), argument(0, 8, 4)), (argument(1, 0, 8),), POOLS)
"""Two inputs in pool 0, one output in pool 1."""

Edit = Callable[[Request], Request]


def edit_input(position: int, **fields: Any) -> Edit:
    def apply(request: Request) -> Request:
        inputs = list(request.inputs)
        inputs[position] = msgspec.structs.replace(inputs[position], **fields)
        return msgspec.structs.replace(request, inputs=tuple(inputs))

    return apply


def edit_output(**fields: Any) -> Edit:
    return lambda request: msgspec.structs.replace(
        request, outputs=(msgspec.structs.replace(request.outputs[0], **fields), *request.outputs[1:])
    )


def edit_pool(position: int, pool: RequestMemoryPool) -> Edit:
    def apply(request: Request) -> Request:
        pools = list(request.pools)
        pools[position] = pool
        return msgspec.structs.replace(request, pools=tuple(pools))

    return apply


def edit(**fields: Any) -> Edit:
    return lambda request: msgspec.structs.replace(request, **fields)


def both(*edits: Edit) -> Edit:
    def apply(request: Request) -> Request:
        for one in edits:
            request = one(request)
        return request

    return apply


NOTHING: Edit = edit()


def location(pool: int, offset: int, length: int, padding: int = 0) -> DataLocation:
    return DataLocation(pool, offset, length, padding)


ZERO = DataLocation()
TOKEN = RequestMemoryPool(None, 5)
NATIVE = RequestMemoryPool(Memory("hardware_buffer", 0, token=3))
IN_TOKEN = both(edit_pool(1, TOKEN), edit_output(location=location(1, 0, 0)))


@dataclass(frozen=True)
class Broken:
    """An edit of a sound request that breaks one rule in a version. before: edits that keep it sound."""

    rule: str
    what: str
    version: Version
    apply: Edit
    before: Edit = NOTHING
    model: Model = field(default_factory=model)
    fenced: bool = False


KNOWN, SIZE, RANK = model(), model((0,), (0,)), model((), ())
GIVEN = both(edit_input(0, dimensions=(2,)), edit_output(dimensions=(2,)))
BROKEN = [
    Broken("REQUEST.R1", "input missing", Version.V1_0, edit(inputs=REQUEST.inputs[:1])),
    Broken("REQUEST.R1", "output missing", Version.FL8, edit(outputs=())),
    Broken("REQUEST.R1", "input too many", Version.V1_3, edit(inputs=(*REQUEST.inputs, argument(0, 12, 4)))),
    Broken("REQUEST.R2", "with pool", Version.V1_0, edit_input(1, has_no_value=True, location=location(1, 0, 0))),
    Broken("REQUEST.R2", "with padding", Version.FL5, edit_input(1, has_no_value=True, location=location(0, 0, 0, 4))),
    Broken(
        "REQUEST.R2", "with dimensions", Version.V1_0, edit_input(0, has_no_value=True, location=ZERO, dimensions=(2,))
    ),
    Broken("REQUEST.R3", "no such pool", Version.V1_0, edit_input(0, location=location(2, 0, 8))),
    Broken("REQUEST.R3", "past the end", Version.V1_0, edit_output(location=location(1, 12, 8))),
    Broken("REQUEST.R3", "would wrap", Version.V1_0, edit_output(location=location(1, 2**32 - 4, 8))),
    Broken("REQUEST.R3", "negative", Version.FL5, edit_output(location=location(1, -4, 8))),
    Broken("REQUEST.R3", "padding past the end", Version.FL5, edit_output(location=location(1, 0, 8, 9))),
    Broken("REQUEST.R3", "length in a device buffer", Version.V1_3, edit_output(location=location(1, 0, 8)), IN_TOKEN),
    Broken(
        "REQUEST.R3",
        "offset in pixels",
        Version.V1_2,
        edit_output(location=location(1, 4, 0)),
        both(edit_pool(1, NATIVE), edit_output(location=location(1, 0, 0))),
    ),
    Broken("REQUEST.R4", "rank", Version.V1_0, edit_input(0, dimensions=(2, 1))),
    Broken("REQUEST.R4", "size", Version.V1_0, edit_input(0, dimensions=(3,))),
    Broken("REQUEST.R4", "open input", Version.V1_3, edit_input(0, dimensions=(0,)), GIVEN, SIZE),
    Broken("REQUEST.R4", "open output in 1.1", Version.V1_1, edit_output(dimensions=(0,)), GIVEN, SIZE),
    Broken("REQUEST.R4", "open output, fenced", Version.V1_3, edit_output(dimensions=(0,)), GIVEN, SIZE, fenced=True),
    Broken("REQUEST.R4", "open output against a known size", Version.V1_3, edit_output(dimensions=(0,))),
    Broken("REQUEST.R4", "dimensions of a scalar", Version.V1_3, edit_input(1, dimensions=(1,))),
    Broken("REQUEST.R4", "negative", Version.FL5, edit_input(0, dimensions=(-2,)), GIVEN, SIZE),
    Broken("REQUEST.R5", "input size", Version.V1_0, edit_input(0, dimensions=()), GIVEN, SIZE),
    Broken("REQUEST.R5", "input rank", Version.V1_2, edit_input(0, dimensions=()), GIVEN, RANK),
    Broken("REQUEST.R5", "output size in 1.1", Version.V1_1, edit_output(dimensions=()), GIVEN, SIZE),
    Broken("REQUEST.R5", "output rank, fenced", Version.FL8, edit_output(dimensions=()), GIVEN, RANK, fenced=True),
    Broken("REQUEST.R6", "length", Version.FL5, edit_input(0, location=location(0, 0, 4))),
    Broken("REQUEST.R7", "output in input", Version.V1_0, edit_output(location=location(0, 4, 8))),
    Broken(
        "REQUEST.R7",
        "output in a constant",
        Version.V1_0,
        edit_output(location=location(1, 4, 8)),
        both(edit_pool(1, RequestMemoryPool(Memory("ashmem", 16, token=9))), edit_output(location=location(1, 8, 8))),
    ),
    Broken("REQUEST.R8", "kind", Version.V1_0, edit_pool(1, RequestMemoryPool(Memory("blob", 16, token=2)))),
    Broken("REQUEST.R8", "null handle", Version.V1_0, edit_pool(1, RequestMemoryPool(Memory("ashmem", 16, token=0)))),
    Broken(
        "REQUEST.R8", "negative size", Version.FL5, edit(pools=(*POOLS, RequestMemoryPool(Memory("ashmem", -1, 2))))
    ),
    Broken("REQUEST.R8", "token 0", Version.V1_3, edit_pool(1, RequestMemoryPool(None, 0)), IN_TOKEN),
    Broken("REQUEST.R8", "negative token", Version.FL8, edit_pool(1, RequestMemoryPool(None, -1)), IN_TOKEN),
    Broken(
        "REQUEST.R8",
        "token before 1.3",
        Version.V1_2,
        both(edit_pool(1, TOKEN), edit_output(location=location(1, 0, 0))),
    ),
]
"""One edit a line."""


def found(request: Request, case: Broken, *, text_rules: bool = True) -> set[str]:
    violations = validate_request(request, case.model, case.version, fenced=case.fenced, text_rules=text_rules)
    return {violation.clause for violation in violations}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.rule} {case.what}")
def test_an_edit_breaks_one_rule(case: Broken) -> None:
    sound = case.before(REQUEST)
    assert found(sound, case) == set()
    assert found(case.apply(sound), case) == {case.rule}


def test_every_rule_has_an_edit() -> None:
    assert {case.rule for case in BROKEN} == {rule.id for rule in structural_rules() if rule.id.startswith("REQUEST.")}


def test_rules_of_the_text_count_on_request_only() -> None:
    texts = {rule.id for rule in structural_rules() if rule.latest == "text"}
    for case in BROKEN:
        if case.rule in texts:
            assert found(case.apply(case.before(REQUEST)), case, text_rules=False) == set()


SOUND = [
    ("output of unknown size", edit_output(dimensions=()), GIVEN, SIZE, Version.V1_2),
    ("output of unknown rank", edit_output(dimensions=()), GIVEN, RANK, Version.FL8),
    ("open output", edit_output(dimensions=(0,)), GIVEN, SIZE, Version.V1_2),
    ("omitted input", edit_input(0, has_no_value=True, location=ZERO), edit(), KNOWN, Version.V1_0),
    ("padding in HIDL", edit_output(location=location(1, 0, 8, 99)), edit(), KNOWN, Version.V1_3),
    ("padding that fits", edit_output(location=location(1, 0, 8, 8)), edit(), KNOWN, Version.FL5),
    ("longer than needed in HIDL", edit_output(location=location(1, 0, 16)), edit(), KNOWN, Version.V1_3),
    (
        "blob as a hardware buffer",
        edit_pool(1, RequestMemoryPool(Memory("hardwareBuffer", 64, 2, description=BLOB))),
        edit(),
        KNOWN,
        Version.FL5,
    ),
]


@pytest.mark.parametrize(("what", "apply", "before", "made", "version"), SOUND, ids=[row[0] for row in SOUND])
def test_what_is_legal_is_not_refused(what: str, apply: Edit, before: Edit, made: Model, version: Version) -> None:
    assert validate_request(apply(before(REQUEST)), made, version) == []


def test_pixels_are_used_as_a_whole() -> None:
    pixels = RequestMemoryPool(Memory("hardwareBuffer", 64, 2, description=PIXELS))
    request = edit_pool(1, pixels)(REQUEST)
    assert [str(violation) for violation in validate_request(request, KNOWN, Version.FL5)] == [
        "REQUEST.R3: output 0 (TENSOR_FLOAT32): location (0, 8, 0) in a pool that is used as a whole must be 0"
    ]


def test_given_pool_sizes_count() -> None:
    assert validate_request(REQUEST, KNOWN, Version.V1_0, [16, 16]) == []
    (violation,) = validate_request(REQUEST, KNOWN, Version.V1_0, [16, 7])
    assert (violation.clause, violation.operand) == ("REQUEST.R3", 0)
    assert violation.message == "output 0 (TENSOR_FLOAT32): offset 0 + length 8 + padding 0 is outside of 7 bytes"
