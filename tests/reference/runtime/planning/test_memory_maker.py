"""Memory from descriptors: where it is made, and what executions and copies do with it (FW-MEM)."""

from __future__ import annotations

import pytest
from runtime_plans import SHAPE, Planning, chain, numbers, supporting

from npu_conformance.reference.runtime.backend import (
    Argument,
    ExecutionOptions,
    MemoryDescription,
    MemoryRole,
    Plan,
    RuntimeFailure,
)
from npu_conformance.reference.runtime.planning.memory_domains import DeviceMemory, SharedBuffer
from npu_conformance.reference.runtime.planning.memory_maker import ReferenceMemoryMaker
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

ADD, MUL = OperationType.ADD, OperationType.MUL
OPERAND = types.Operand(OperandType.TENSOR_FLOAT32, SHAPE)


def described(*roles: tuple[Plan, bool], dimensions: tuple[int, ...] = SHAPE) -> MemoryDescription:
    return MemoryDescription(OPERAND, dimensions, tuple(MemoryRole(plan, is_input, 0, 1.0) for plan, is_input in roles))


@pytest.mark.parametrize(
    ("script", "is_on_device"),
    [
        (DriverScript("a"), True),
        (DriverScript("a", hal=Version.V1_3), True),
        (DriverScript("a", hal=Version.V1_2), False),
        (DriverScript("a", has_buffers=False), False),
        (DriverScript("a", misbehaviours=(Misbehaviour("allocate", "token"),)), False),
        (DriverScript("a", misbehaviours=(Misbehaviour("allocate", "null"),)), False),
        (DriverScript("a", operations=supporting(ADD)), False),
    ],
    ids=["fl8", "1.3", "1.2", "declines", "no token", "no buffer", "steps"],
)
def test_one_driver_of_all_roles_allocates(script: DriverScript, is_on_device: bool) -> None:
    planning = Planning(script)
    maker, plan = ReferenceMemoryMaker(planning.pools), planning.compile(chain(ADD, MUL))
    found = maker.allocate(described((plan, True), (plan, False)), explicit=False)
    assert isinstance(found, DeviceMemory if is_on_device else SharedBuffer)


def test_nothing_stands_in_for_an_explicit_driver_or_an_unknown_size() -> None:
    planning = Planning(DriverScript("a", has_buffers=False))
    maker, plan = ReferenceMemoryMaker(planning.pools), planning.compile(chain(ADD))
    for description, explicit in ((described((plan, True)), True), (described((plan, True), dimensions=()), False)):
        with pytest.raises(RuntimeFailure) as failed:
            maker.allocate(description, explicit)
        assert failed.value.result == ResultCode.OP_FAILED


@pytest.mark.parametrize("is_failing", [False, True], ids=["driver", "fallback"])
def test_values_pass_through_memory_of_a_driver(is_failing: bool) -> None:
    broken = (Misbehaviour("execute", status=ErrorStatus.GENERAL_FAILURE),) if is_failing else ()
    planning = Planning(DriverScript("a", misbehaviours=broken))
    maker, plan = ReferenceMemoryMaker(planning.pools), planning.compile(chain(ADD))
    given = maker.allocate(described((plan, True)), explicit=False)
    result = maker.allocate(described((plan, False)), explicit=False)
    source, target = planning.place(numbers()), planning.room(SHAPE, 24)
    assert source.memory is not None
    assert target.memory is not None
    maker.copy_from(source.memory, given)
    outcome = plan.execute([Argument(SHAPE, buffer=given)], [Argument(SHAPE, buffer=result)], ExecutionOptions())
    assert outcome.result == ResultCode.NO_ERROR
    maker.copy_to(result, target.memory)
    assert planning.read(target, SHAPE).tolist() == [[2, 4, 6], [5, 7, 9]]


def test_the_roles_of_steps_are_those_of_their_parts() -> None:
    planning = Planning(DriverScript("a", operations=supporting(ADD)), DriverScript("b", operations=supporting(MUL)))
    plan = planning.compile(chain(ADD, MUL, ADD))
    assert [(role.device.name, role.is_input, role.io_index) for role in plan.roles(True, 0)] == [("a", True, 0)]
    assert [(role.device.name, role.is_input, role.io_index) for role in plan.roles(False, 0)] == [("a", False, 0)]
