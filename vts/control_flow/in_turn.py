"""One prepared model with a loop or with branches, executed again and again: each execution begins anew."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    NO_LOOP_TIMEOUT,
    DataLocation,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import MILLISECOND
from npu_conformance.vts.lib.loops import expect_aborted
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, constant, graph, reference, tensor

cases = CaseGroup("vts.control_flow", group=Group.EXECUTION)

_SIZE, _STRIDE = 4, 16
_UNTOUCHED = bytes([FILL]) * _SIZE
_ENDLESS = (-1.0, 5.0, 0.0, 0.0)
"""A counter below its bound to which 0 is added."""
_TURNS = (
    (0.0, 5.0, 3.0, 1.0), (2.0, 7.0, 0.0, 1.0), _ENDLESS, (0.0, -4.0, 1.0, 1.0), (4.0, 8.0, 4.0, 1.0),
    (0.0, 1.0, 5.0, 1.0), _ENDLESS, (3.0, 2.0, 3.0, 1.0), (1.0, 6.0, 2.0, 1.0),
)  # fmt: skip
"""Counter, sum, bound and step of executions in turn: of 3, 0, 1, 0, 5, 0 and 1 rounds, and two without an end."""


@cases.case(
    "WHILE.rounds_in_turn", "NNHAL-CONTROLFLOW-017", "NNHAL-CONTROLFLOW-011", "NNHAL-EXECUTE-018", since=Version.V1_3
)
def rounds_in_turn(context: CaseContext) -> None:
    """A loop of two values begins with what the request says, also behind one of no rounds and an aborted one."""
    prepared_model = prepared_or_unsupported(context, _counting())
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            for number, values in enumerate(_TURNS):
                is_endless = values == _ENDLESS
                timeout = MILLISECOND if is_endless else NO_LOOP_TIMEOUT
                execution, found = _execute(context, prepared_model, values, 2, executor, timeout)
                if is_endless:
                    expect_aborted(execution)
                    continue
                what = f"execution {number} of a loop, counter, sum, bound and step {values}"
                checks.status(execution.status, {ErrorStatus.NONE}, what)
                checks.equal(found, _counted(*values), f"counter and sum, {what}")


def _counted(counter: float, total: float, bound: float, step: float) -> tuple[float, ...]:
    while counter < bound:
        counter, total = counter + step, total + counter
    return counter, total


def _counting() -> Model:
    """WHILE counter < bound: the sum grows by the counter, the counter by the step. Outputs: counter and sum."""
    carried = [_one(INPUT) for _ in range(4)]
    condition = graph(
        [*carried, tensor(OperandType.TENSOR_BOOL8, (1,), OUTPUT)], [Operation(OperationType.LESS, (0, 2), (4,))]
    )
    body = graph(
        [*carried, _activation(), _one(OUTPUT), _one(OUTPUT)],
        [Operation(OperationType.ADD, (0, 3, 4), (5,)), Operation(OperationType.ADD, (1, 0, 4), (6,))],
    )
    main = graph(
        [reference(0), reference(1), *carried, _one(OUTPUT), _one(OUTPUT)],
        [Operation(OperationType.WHILE, (0, 1, 2, 3, 4, 5), (6, 7))],
    )
    return Model(main, (condition, body), operand_values=bytes(4))


@cases.case("IF.two_of_one_branch", "NNHAL-CONTROLFLOW-003", "NNHAL-CONTROLFLOW-016", since=Version.V1_3)
def two_of_one_branch(context: CaseContext) -> None:
    """Two IFs of one condition and the same two branches compute with their own arguments each."""
    prepared_model = prepared_or_unsupported(context, _two_ifs())
    for executor in executors(context.version):
        with context.configuration(executor):
            for is_true, (first, second, third) in ((True, (1.5, 4.0, -2.0)), (False, (6.0, 0.5, 3.0))):
                values = [struct.pack("<?", is_true), *(struct.pack("<f", one) for one in (first, second, third))]
                execution, found = _execute(context, prepared_model, values, 2, executor)
                what = f"execution of two IFs, condition {is_true}"
                checks.status(execution.status, {ErrorStatus.NONE}, what)
                sign = 1 if is_true else -1
                expected = (first + sign * second, first + sign * third)
                checks.equal(found, expected, f"outputs, {what}")


def _two_ifs() -> Model:
    """IF(c; x, y) and IF(c; x, z), which add or subtract."""
    branches = [
        graph([_one(INPUT), _one(INPUT), _activation(), _one(OUTPUT)], [Operation(code, (0, 1, 2), (3,))])
        for code in (OperationType.ADD, OperationType.SUB)
    ]
    condition, graphs = tensor(OperandType.TENSOR_BOOL8, (1,), INPUT), [reference(0), reference(1)]
    main = graph(
        [condition, *(_one(INPUT) for _ in range(3)), *graphs, _one(OUTPUT), _one(OUTPUT)],
        [Operation(OperationType.IF, (0, 4, 5, 1, 2), (6,)), Operation(OperationType.IF, (0, 4, 5, 1, 3), (7,))],
    )
    return Model(main, tuple(branches), operand_values=bytes(4))


def _one(lifetime: int) -> Operand:
    return tensor(dimensions=(1,), lifetime=lifetime)


def _activation() -> Operand:
    return constant(OperandType.INT32, (), 0, 4)


def _execute(
    context: CaseContext,
    prepared_model: PreparedModel,
    values: Sequence[float | bytes],
    outputs: int,
    executor: str,
    loop_timeout: int = NO_LOOP_TIMEOUT,
) -> tuple[Execution, tuple[float, ...]]:
    """Execute with inputs of one element each; returns what came back, and the outputs."""
    data = [one if isinstance(one, bytes) else struct.pack("<f", one) for one in values]
    pool = context.pool(_STRIDE * (len(data) + outputs))
    places = [DataLocation(0, at * _STRIDE, len(one)) for at, one in enumerate([*data, *[_UNTOUCHED] * outputs])]
    for place, one in zip(places, [*data, *[_UNTOUCHED] * outputs], strict=True):
        pool.write(place.offset, one)
    arguments = [RequestArgument(location=place) for place in places]
    request = Request(
        tuple(arguments[: len(data)]), tuple(arguments[len(data) :]), (RequestMemoryPool(pool=pool.memory),)
    )
    execution = execute(context, prepared_model, request, measure=False, executor=executor, loop_timeout=loop_timeout)
    found = tuple(struct.unpack("<f", pool.read(place.offset, _SIZE))[0] for place in places[len(data) :])
    return execution, found
