"""What a model that was checked when it was prepared is checked for again when it is executed."""

from __future__ import annotations

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorOperand
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.device import executor
from npu_conformance.reference.device.executor import UNLIMITED, Executor
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Memory, Model
from npu_conformance.specs.neuralnetworks.validate import check_operation, validate_model
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version

PAD = vectors.load("PAD", "float32_rank2")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the operations whose clauses are looked at from now on."""
    names: list[str] = []

    def check(view: OperationView) -> list[Violation]:
        names.append(view.name)
        return check_operation(view)

    monkeypatch.setattr(executor, "check_operation", check)
    return names


def model_of(vector: Vector) -> Model:
    return build_model(vector, Version.FL8).model


def test_what_the_model_decides_is_not_checked_again(checked: list[str]) -> None:
    given = [PAD.examples[0].inputs["input"]]
    (found,) = Executor(model_of(PAD), Version.FL8, [], is_checked=True).run(given, UNLIMITED)
    assert checked == []
    (expected,) = Executor(model_of(PAD), Version.FL8, []).run(given, UNLIMITED)
    assert checked == ["PAD"]
    numpy.testing.assert_array_equal(found, expected, strict=True)


def test_shapes_that_a_request_gives_are_checked(checked: list[str]) -> None:
    is_open = replace(PAD, operands={**PAD.operands, "input": PAD.operands["input"].with_dimensions((0, 3))})
    device = Executor(model_of(is_open), Version.FL8, [], is_checked=True)
    with pytest.raises(ServiceError, match="PAD"):
        device.run([numpy.zeros((5, 3), numpy.float32)], UNLIMITED)
    assert checked == ["PAD"]


def test_constants_that_a_client_may_have_written_to_are_checked(checked: list[str]) -> None:
    """Between the check of a model and the copy of its constants the client can write to its pools."""
    pools: list[bytearray] = []

    def create_pool(data: bytes) -> Memory:
        pools.append(bytearray(data))
        return Memory("ashmem", len(data), 1 + len(pools))

    model = build_model(PAD, Version.FL8, create_pool=create_pool).model
    for pool in pools:
        pool[:] = b"\x80" * len(pool)
    device = Executor(model, Version.FL8, [memoryview(pool) for pool in pools], is_checked=True)
    with pytest.raises(ServiceError, match="PAD"):
        device.run([PAD.examples[0].inputs["input"]], UNLIMITED)
    assert checked == ["PAD"]


def test_an_input_that_a_request_leaves_out_is_noticed(checked: list[str]) -> None:
    device = Executor(model_of(PAD), Version.FL8, [], is_checked=True)
    with pytest.raises(ServiceError, match="input has no value"):
        device.run([None], UNLIMITED)


CELL = vectors.load("QUANTIZED_LSTM", "plain")


def cell_with(**scalars: float) -> list[numpy.ndarray]:
    """The outputs of the cell with other scalars."""
    operands = {
        name: replace(CELL.operands[name], value=numpy.asarray(value, numpy.float32)) for name, value in scalars.items()
    }
    changed = replace(CELL, operands={**CELL.operands, **operands})
    given = [CELL.examples[0].inputs[name] for name in CELL.inputs]
    return Executor(model_of(changed), Version.FL8, []).run(given, UNLIMITED)


def test_a_scale_of_0_fails_the_execution_of_a_cell() -> None:
    with pytest.raises(ServiceError, match=r"QUANTIZED_LSTM\.C13") as failed:
        cell_with(hidden_state_scale=0.0)
    assert failed.value.status == ErrorStatus.GENERAL_FAILURE


def test_an_infinite_limit_is_none() -> None:
    for limited, unlimited in zip(cell_with(cell_clip=numpy.inf, proj_clip=numpy.inf), cell_with(), strict=True):
        numpy.testing.assert_array_equal(limited, unlimited, strict=True)


def test_a_list_of_sizes_that_no_memory_holds_is_looked_at() -> None:
    vector = vectors.load("RESHAPE", "float32_flatten")
    sizes = vector.operations[0].inputs[1]
    longer = VectorOperand(OperandType.TENSOR_INT32, (2**31,))
    open_sizes = replace(vector, operands={**vector.operands, sizes: longer}, inputs=(*vector.inputs, sizes))
    assert validate_model(build_model(open_sizes, Version.FL8).model, Version.FL8)
