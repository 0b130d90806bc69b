"""What of a model or a request an app cannot say: each is named, and whatever can be said is let through."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import INPUT, OUTPUT, change, constant, graph, tensor
from raising import raised

from npu_conformance.adapters.runtime_device.visibility import require_visible_model, require_visible_request
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.errors import NotVisible
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    OperandExtraParams,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version

V = Version.V1_3
FLOATS = OperandType.TENSOR_FLOAT32


def chain() -> Model:
    """ADD of a constant, and RELU behind it."""
    operands = [
        tensor(lifetime=INPUT),
        constant(FLOATS, (2,), 0, 8),
        constant(OperandType.INT32, (), 8, 4),
        tensor(),
        tensor(lifetime=OUTPUT),
    ]
    operations = [Operation(OperationType.ADD, (0, 1, 2), (3,)), Operation(OperationType.RELU, (3,), (4,))]
    return Model(graph(operands, operations), operand_values=bytes(12))


def with_operand(number: int, **fields: Any) -> Model:
    model = chain()
    operands = list(model.main.operands)
    operands[number] = change(operands[number], **fields)
    return change(model, main=change(model.main, operands=tuple(operands)))


def reversed_operations() -> Model:
    model = chain()
    return change(model, main=change(model.main, operations=model.main.operations[::-1]))


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (with_operand(0, lifetime=OUTPUT), "follows from the lists"),
        (with_operand(3, lifetime=INPUT), "follows from the lists"),
        (with_operand(3, lifetime=99), "the lifetime 99"),
        (with_operand(3, number_of_consumers=2), "how many operations read"),
        (with_operand(3, location=DataLocation(length=8)), "without a constant value"),
        (with_operand(1, location=DataLocation(0, 8, 8)), "among the values"),
        (with_operand(1, lifetime=4), "pools that no constant lies in, or that are not there"),
        (with_operand(1, extra_params=OperandExtraParams()), "extra parameters"),
        (reversed_operations(), "the order of operations"),
        (change(chain(), pools=(Memory("ashmem", 8, 5),)), "pools that no constant lies in"),
        (change(chain(), referenced=(chain().main,)), "graphs that no operand refers to"),
    ],
)
def test_a_model_that_cannot_be_said(model: Model, text: str) -> None:
    with pytest.raises(NotVisible, match=text):
        require_visible_model(model, V)


@pytest.mark.parametrize(
    "model",
    [
        chain(),
        with_operand(1, location=DataLocation(0, 0, 7)),
        with_operand(0, dimensions=(1, 2, 3)),
        with_operand(2, type=999),
        with_operand(1, scale=1.0),
        change(chain(), main=change(chain().main, operations=(Operation(999, (0,), (4, 400)),))),
    ],
)
def test_a_wrong_model_that_can_be_said(model: Model) -> None:
    operands = tuple(
        change(operand, number_of_consumers=sum(each.inputs.count(index) for each in model.main.operations))
        for index, operand in enumerate(model.main.operands)
    )
    assert raised(require_visible_model, change(model, main=change(model.main, operands=operands)), V) is None


FIRST = RequestArgument(location=DataLocation(0, 0, 8))
SECOND = RequestArgument(location=DataLocation(0, 8, 8))
POOL = RequestMemoryPool(pool=Memory("ashmem", 16, 5))


def request(
    first: RequestArgument = FIRST, second: RequestArgument = SECOND, pool: RequestMemoryPool = POOL
) -> Request:
    return Request((first,), (second,), (pool,))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (request(pool=RequestMemoryPool(token=1)), "buffers by a driver's tokens"),
        (request(pool=RequestMemoryPool(pool=Memory("hardware_buffer_blob", 16, 5))), "hardware buffers"),
        (request(pool=RequestMemoryPool(pool=Memory("paper", 16, 5))), "memory of the kind 'paper'"),
        (request(pool=RequestMemoryPool(pool=Memory("ashmem", 16, 0))), "a pool without memory"),
        (request(RequestArgument(location=DataLocation(1, 0, 8))), "a pool that is not there"),
        (request(RequestArgument(location=DataLocation(0, 12, 8))), "outside of its pool"),
        (request(RequestArgument(True, DataLocation(0, 0, 8))), "an omitted argument with a place"),
        (request(second=RequestArgument(location=DataLocation(0, 8, 4))), "an output of another length"),
    ],
)
def test_a_request_that_cannot_be_said(given: Request, text: str) -> None:
    with pytest.raises(NotVisible, match=text):
        require_visible_request(chain(), given)


@pytest.mark.parametrize(
    "given",
    [
        request(),
        request(RequestArgument(location=DataLocation(0, 0, 4))),
        request(RequestArgument(has_no_value=True)),
        Request((), (), ()),
    ],
)
def test_a_wrong_request_that_can_be_said(given: Request) -> None:
    assert raised(require_visible_request, chain(), given) is None


def test_loops_over_unknown_shapes_are_no_business_of_drivers() -> None:
    with pytest.raises(NotVisible, match="may interpret control flow"):
        require_visible_model(build_model(vectors.load("WHILE", "unknown_size"), V).model, V)
    for header in vectors.headers("WHILE"):
        vector = vectors.load("WHILE", header.name)
        if vector.rejected is None and header.name != "unknown_size":
            require_visible_model(build_model(vector, V).model, V)
