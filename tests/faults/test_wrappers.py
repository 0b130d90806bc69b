"""Wrappers do what their faults say: without the mistake a case may be right to see nothing."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from reference_driver import LocalMemory

from npu_conformance.faults import executions, extension_faults, kernel_guards, registry, told_times
from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import faulty_models
from npu_conformance.faults.runtime import boundary, flows
from npu_conformance.faults.runtime.hooks import FaultyRuntime
from npu_conformance.faults.wrapper import Wrapper
from npu_conformance.reference.device.tensors import OutputInfo
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    Operation,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import NEWEST

registry.conforming()  # imports the wrappers

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


@pytest.mark.parametrize("lifetime", OperandLifeTime)
def test_a_guard_knows_constants(lifetime: OperandLifeTime) -> None:
    view: Any = SimpleNamespace(operand=lambda name: Operand(lifetime=lifetime))
    met = kernel_guards.Met(view, [numpy.zeros(1)], [OutputInfo(OperandType.TENSOR_FLOAT32, (1,))])
    assert met.is_constant("filter") == (lifetime.name in ("CONSTANT_COPY", "CONSTANT_POOL"))


class InCompany(FaultyPreparedModel):
    shared: list[object]


def test_what_models_share_is_that_of_one_device_and_begins_anew_with_the_next() -> None:
    """A driver that starts again in its process must not find the room taken that an execution had before."""
    context = Context(LocalMemory(), lambda: Caller(0, 0))
    mechanism = faulty_models(InCompany, shared=list)
    first, second = (mechanism.create(context, NEWEST).device for _ in range(2))
    assert isinstance(first, FaultyDevice)
    assert isinstance(second, FaultyDevice)
    one, other = (first.prepared_model(PreparedModel()) for _ in range(2))
    assert one.shared is other.shared
    assert second.prepared_model(PreparedModel()).shared is not one.shared


def test_no_wrapper_keeps_what_changes_in_its_class() -> None:
    """There it would outlive a device."""
    changing = (list, set, dict, type(threading.Lock()), type(threading.RLock()), threading.Semaphore, threading.Event)
    kinds = [kind for kind in _below(Wrapper) if getattr(sys.modules[kind.__module__], kind.__name__, None) is kind]
    kept = [(kind.__qualname__, name, value) for kind in kinds for name, value in vars(kind).items()]
    assert len(kinds) > len(Wrapper.__subclasses__())
    assert [one for one in kept if not one[1].startswith("__") and isinstance(one[2], changing)] == []


def _below(kind: type[Any]) -> list[type[Any]]:
    return [one for below in kind.__subclasses__() for one in (below, *_below(below))]


def test_what_works_once_works_once_in_each_runtime() -> None:
    """Their objects have the same numbers."""
    behave, first, second = boundary.once(1), Runtime(), Runtime()
    answers = [behave(runtime, (0, 7), 0) for runtime in (first, first, second)]
    assert answers == [ResultCode.NO_ERROR, ResultCode.BAD_STATE, ResultCode.NO_ERROR]


def test_a_call_that_is_made_once_is_made_once_in_each_runtime() -> None:
    context = Context(LocalMemory(), lambda: Caller(0, 0))
    hook, runtimes = flows.once(ResultCode.BAD_STATE), [FaultyRuntime(Runtime(), context) for _ in range(2)]
    answers = [hook(runtime, lambda event: 0, (7,)) for runtime in (runtimes[0], *runtimes)]
    assert answers == [ResultCode.NO_ERROR, ResultCode.BAD_STATE, ResultCode.NO_ERROR]
