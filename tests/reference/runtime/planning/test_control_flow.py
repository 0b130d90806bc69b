"""IF and WHILE that the runtime interprets."""

from __future__ import annotations

import numpy
import pytest
from runtime_plans import SHAPE, Graph, Planning, numbers, supporting

from npu_conformance.reference.runtime.backend import ExecutionOptions
from npu_conformance.reference.runtime.planning import engines
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

ADD, MUL, FLOOR = OperationType.ADD, OperationType.MUL, OperationType.FLOOR
BOOL = OperandType.TENSOR_BOOL8
SCRIPTS = (DriverScript("a", operations=supporting(ADD, FLOOR)), DriverScript("b", operations=supporting(MUL)))


def branching() -> types.Model:
    """An IF that adds or multiplies, between two FLOORs."""
    graph = Graph()
    condition, value = graph.input((1,), BOOL), graph.add(FLOOR, graph.input())
    branches = []
    for kind in (ADD, MUL):
        branch = graph.inner()
        branch.add(kind, branch.input(), branch.input(), branch.activation(), is_output=True)
        branches.append(branch)
    constant = graph.tensor(10)
    result = graph.add(OperationType.IF, condition, graph.graph(0), graph.graph(1), value, constant)
    graph.add(FLOOR, result, is_output=True)
    return graph.model(*branches)


def looping(limit: float, is_endless: bool = False) -> types.Model:
    """WHILE all values differ from the limit: value + 1, doubled = value * 2."""
    graph = Graph()
    value = graph.add(FLOOR, graph.input())
    condition, body = graph.inner(), graph.inner()
    now, unused = condition.input(), condition.input()
    condition.add(ADD, unused, unused, condition.activation())
    one = condition.add(
        OperationType.EQUAL if is_endless else OperationType.NOT_EQUAL,
        now,
        now if is_endless else condition.tensor(*(limit + place for place in range(6))),
        shape=SHAPE,
        type=BOOL,
    )
    axes = condition.constant(numpy.array([0, 1], "int32"), OperandType.TENSOR_INT32)
    keep = condition.constant(numpy.array(True), OperandType.BOOL)
    condition.add(OperationType.REDUCE_ALL, one, axes, keep, is_output=True, shape=(1, 1), type=BOOL)
    now, unused = body.input(), body.input()
    body.add(ADD, now, body.tensor(1), body.activation(), is_output=True)
    body.add(MUL, now, body.tensor(2), body.activation(), is_output=True)
    final = graph.operand(0), graph.operand(0)
    graph.operations.append(types.Operation(OperationType.WHILE, (graph.graph(0), graph.graph(1), value, value), final))
    for index in final:
        graph.add(FLOOR, index, is_output=True)
    return graph.model(condition, body)


@pytest.mark.parametrize("is_fenced", [False, True])
@pytest.mark.parametrize("condition", [True, False])
def test_an_if_runs_the_branch_of_its_condition(condition: bool, is_fenced: bool) -> None:
    planning = Planning(*SCRIPTS)
    plan = planning.compile(branching())
    inputs = [planning.place(numpy.array([condition])), planning.place(numbers())]
    output = planning.room(SHAPE, 24)
    if is_fenced:
        outcome = plan.start(inputs, [output], ExecutionOptions(), (), 0).wait()
    else:
        outcome = plan.execute(inputs, [output], ExecutionOptions())
    assert outcome.result == ResultCode.NO_ERROR
    expected = numbers() + 10 if condition else numbers() * 10
    assert planning.read(output, SHAPE).tolist() == expected.tolist()


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_a_while_runs_until_its_condition_is_false(rounds: int) -> None:
    planning = Planning(*SCRIPTS)
    plan = planning.compile(looping(1 + rounds))
    outcome, (value, doubled) = planning.run(plan, [numbers()], outputs=2)
    assert outcome.result == ResultCode.NO_ERROR
    assert value.tolist() == (numbers() + rounds).tolist()
    last = (numbers() + rounds - 1) * 2 if rounds else numbers()
    assert doubled.tolist() == last.tolist()
    assert len([call for call in planning.services["b"].calls if call.request]) == rounds


def test_a_loop_without_end_is_ended() -> None:
    planning = Planning(*SCRIPTS)
    plan = planning.compile(looping(0, is_endless=True))
    outcome, _ = planning.run(plan, [numbers()], outputs=2, loop_timeout_ns=1_000_000)
    assert outcome.result == ResultCode.MISSED_DEADLINE_TRANSIENT


def test_a_part_of_a_loop_that_fails_is_computed_by_the_cpu() -> None:
    broken = (Misbehaviour("execute", status=ErrorStatus.GENERAL_FAILURE, first=2),)
    planning = Planning(SCRIPTS[0], DriverScript("b", operations=supporting(MUL), misbehaviours=broken))
    outcome, (value, doubled) = planning.run(planning.compile(looping(4)), [numbers()], outputs=2)
    assert outcome.result == ResultCode.NO_ERROR
    assert (value.tolist(), doubled.tolist()) == ((numbers() + 3).tolist(), ((numbers() + 2) * 2).tolist())


@pytest.mark.parametrize("is_fenced", [False, True])
def test_a_condition_that_cannot_be_read_fails_the_execution(is_fenced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    planning = Planning(*SCRIPTS)
    plan = planning.compile(branching())
    inputs = [planning.place(numpy.array([True])), planning.place(numbers())]
    outputs = [planning.room(SHAPE, 24)]
    reach = planning.memory.map

    def unreachable(memory: types.Memory) -> memoryview:
        if memory == inputs[0].memory:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "cannot be mapped")
        return reach(memory)

    monkeypatch.setattr(planning.memory, "map", unreachable)
    if is_fenced:
        outcome = plan.start(inputs, outputs, ExecutionOptions(), (), 0).wait()
    else:
        outcome = plan.execute(inputs, outputs, ExecutionOptions())
    assert outcome.result == ResultCode.OP_FAILED


def test_a_part_behind_a_fence_is_asked_once_how_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    planning, asked = Planning(*SCRIPTS), list[object]()
    ask = engines.execution_info

    def counted(callback: hal.FencedExecutionCallback) -> hal.FencedExecutionInfo:
        asked.append(callback)
        return ask(callback)

    monkeypatch.setattr(engines, "execution_info", counted)
    plan = planning.compile(looping(1 + 5))
    outputs = [planning.room(SHAPE, 24) for _ in range(2)]
    assert plan.start([planning.place(numbers())], outputs, ExecutionOptions(), (), 0).wait().result == 0
    assert len(asked) == len(set(map(id, asked))) > 5
