"""Wrappers do what their faults say: without the mistake a case may be right to see nothing."""

from __future__ import annotations

import pytest

from npu_conformance.faults import executions, extension_faults, told_times
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    Operation,
    RequestMemoryPool,
    Subgraph,
)

POOLS = (RequestMemoryPool(Memory("ashmem", 64, 1)), RequestMemoryPool(Memory("ashmem", 100, 2)))
OF_A_DEVICE = RequestMemoryPool(token=3)


def test_a_driver_that_knows_oem_takes_the_operation_for_relu_and_both_types_for_float32() -> None:
    """The operation and the scalar type have one number, and mean two things."""
    operands = tuple(Operand(int(kind)) for kind in (OperandType.OEM, OperandType.TENSOR_OEM_BYTE, OperandType.INT32))
    operations = tuple(Operation(int(kind), (0,), (1,)) for kind in (OperationType.OEM_OPERATION, OperationType.ADD))
    seen = extension_faults.knows_oem(Model(Subgraph(operands, operations, (0,), (1,)))).main
    assert [one.type for one in seen.operands] == [
        OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT32, OperandType.INT32,
    ]  # fmt: skip
    assert [one.type for one in seen.operations] == [OperationType.RELU, OperationType.ADD]


def test_the_least_of_all_times_is_the_shortest_so_far() -> None:
    teller = told_times.Teller(told_times.of_the_least)
    took = (1000, 100, 5000, 4000, 50, 3000)
    assert [teller.tell((time - 10, time))[1] for time in took] == [1000, 100, 100, 100, 50, 50]


@pytest.mark.parametrize(("index", "meant"), [(0, 0), (1, 1), (2, 1), (1000, 1), (-1, 1)])
def test_a_pool_that_does_not_exist_means_the_last_one(index: int, meant: int) -> None:
    place = DataLocation(index, 32, 8)
    assert executions.last_for_missing(place, POOLS) == DataLocation(meant, 32, 8)


@pytest.mark.parametrize(
    ("place", "moved"),
    [
        (DataLocation(0, 56, 8), 56),
        (DataLocation(0, 57, 8), 56),
        (DataLocation(0, 2**32 - 4, 8), 56),
        (DataLocation(1, 57, 8), 57),
        (DataLocation(1, 98, 8), 92),
        (DataLocation(0, 4, 80), 0),
        (DataLocation(2, 98, 8), 98),
        (DataLocation(3, 98, 8), 98),
    ],
)
def test_what_reaches_beyond_its_pool_is_moved_inside(place: DataLocation, moved: int) -> None:
    """A buffer of the device's has no size that its client could tell, and neither has a pool that does not exist."""
    found = executions.moved_inside(place, (*POOLS, OF_A_DEVICE))
    assert found == DataLocation(place.pool_index, moved, place.length)
