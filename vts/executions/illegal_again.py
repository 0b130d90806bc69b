"""What is illegal only inside of a model that ran well: in a branch, and by a parameter that the model computes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, shape_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.executions.changing import RESHAPING
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import constant, graph, reference, tensor

cases = CaseGroup("vts.executions.illegal_again", group=Group.EXECUTION)

_RULES = ("NNHAL-PREPARE-014", "NNHAL-REQUEST-018", "NNHAL-ERROR-008")
_POOL = 512
_PLACES = (0, 64, 192, 320)
"""Where the arguments of a request lie in its pool."""


@cases.case("in_a_branch", "NNHAL-CONTROLFLOW-016", *_RULES, since=Version.V1_3)
def in_a_branch(context: CaseContext) -> None:
    """The branches of an IF refuse summands whose rows do not fit together, and add those that fit, each way."""
    prepared_model = prepared_or_unsupported(context, _BRANCHING)
    for executor in executors(context.version, finding_shapes=True):
        for branch in (0, 1):
            with context.configuration(f"branch_{branch}.{executor}"):
                for turn, rows in enumerate(_ROWS):
                    request, pool = _sum_of_rows(context, branch, *rows)
                    execution = bind(context, prepared_model, request, executor=executor)()
                    _adds_rows(execution, pool, rows, turn)


_ROWS = ((2, 2), (2, 3), (2, 2), (3, 2), (3, 3), (2, 3), (1, 3))
"""Rows of both summands, one execution after the other: those of one summand change at a time."""


def _sum_of_rows(context: CaseContext, branch: int, first: int, second: int) -> tuple[Request, Pool]:
    pool, sizes = context.pool(_POOL), (1, 8 * first, 8 * second, 128)
    pool.write(0, bytes([branch]))
    for place, rows in zip(_PLACES[1:3], (first, second), strict=True):
        pool.write(place, _floats(range(2 * rows)))
    places = (DataLocation(0, place, size) for place, size in zip(_PLACES, sizes, strict=True))
    flag, one, other, output = (RequestArgument(location=place) for place in places)
    inputs = (flag, replace(one, dimensions=(first, 2)), replace(other, dimensions=(second, 2)))
    return Request(inputs, (output,), (RequestMemoryPool(pool=pool.memory),)), pool


def _adds_rows(execution: Execution, pool: Pool, rows: tuple[int, int], turn: int) -> None:
    first, second = rows
    what = f"execution {turn + 1} of a branch, which adds {first} and {second} rows"
    if _is_computed(execution, what, is_legal=first in (1, second), turn=turn):
        added = [float(at + (at % 2 if first == 1 else at)) for at in range(2 * second)]
        checks.equal(bytes(pool.read(_PLACES[3], len(added) * 4)), _floats(added), f"output of {what}")


_INPUT, _OUTPUT = OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT
_DATA, _RESULT = (tensor(OperandType.TENSOR_FLOAT32, (0, 2), lifetime) for lifetime in (_INPUT, _OUTPUT))
_ADDS = graph(
    [_DATA, _DATA, constant(OperandType.INT32, [], 0, 4), _RESULT], [Operation(OperationType.ADD, (0, 1, 2), (3,))]
)
_BRANCHING = Model(
    graph(
        [tensor(OperandType.TENSOR_BOOL8, [1], _INPUT), reference(0), reference(1), _DATA, _DATA, _RESULT],
        [Operation(OperationType.IF, (0, 1, 2, 3, 4), (5,))],
    ),
    (_ADDS, _ADDS),
    operand_values=bytes(4),
)
"""IF whose branches both add two matrices of unknown numbers of rows."""

_ELEMENTS = 12


@cases.case("computed_shape", "NNHAL-EXECUTE-001", *_RULES, since=Version.V1_3)
def computed_shape(context: CaseContext) -> None:
    """A shape that the model computes is refused where the data has not as many elements; one request, each way."""
    prepared_model = prepared_or_unsupported(context, RESHAPING)
    data, sizes, output = (context.pool(4 * count) for count in (_ELEMENTS, 4, 4 * _ELEMENTS))
    data.write(0, _floats(range(_ELEMENTS)))
    places = (DataLocation(0, 0, 48), DataLocation(1, 0, 8), DataLocation(1, 8, 8), DataLocation(2, 0, 4 * 48))
    pools = tuple(RequestMemoryPool(pool=pool.memory) for pool in (data, sizes, output))
    *inputs, target = (RequestArgument(location=place) for place in places)
    request = Request(tuple(inputs), (target,), pools)
    for executor in executors(context.version, finding_shapes=True):
        with context.configuration(executor):
            run = bind(context, prepared_model, request, executor=executor)
            for turn, shape in enumerate(((4, 3), (3, 3), (4, 3), (5, 3), (4, 4), (2, 6))):
                sizes.write(0, struct.pack("<4i", shape[0], 1, 0, shape[1] - 1))
                output.write(0, bytes([FILL]) * 4 * _ELEMENTS)
                what = f"{executor} execution whose model computes the shape {shape} of {_ELEMENTS} elements"
                if _is_computed(run(), what, is_legal=shape[0] * shape[1] == _ELEMENTS, turn=turn):
                    checks.equal(bytes(output.read(0, 48)), _floats(range(_ELEMENTS)), f"output of {what}")


def _floats(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def _is_computed(execution: Execution, what: str, *, is_legal: bool, turn: int) -> bool:
    """See an execution succeed if it is legal, and fail if it is not; returns which of them."""
    shape_rules(execution)
    if turn == 0 and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with outputs that are not fully specified")
    if is_legal:
        with checks.about("NNHAL-ERROR-008"):
            checks.status(execution.status, {ErrorStatus.NONE}, what)
    else:
        with checks.about("NNHAL-REQUEST-018"):
            checks.that(execution.status != ErrorStatus.NONE, f"{what}: expected a refusal, found NONE")
    return is_legal
