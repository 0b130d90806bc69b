"""What changes between executions of one model beside the data: a computed parameter, a shape, what is told of it."""

from __future__ import annotations

import struct

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, Addition, Pair
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import constant, graph, reference, tensor

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_INPUT, _OUTPUT = OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT
_INTS, _FLOATS = OperandType.TENSOR_INT32, OperandType.TENSOR_FLOAT32
_ELEMENTS = 12
_SHAPES = ((4, 3), (2, 6), (6, 2), (4, 3))
_ROWS: tuple[Pair, ...] = ((0.25, 4.0), (-3.0, 1.5), (2.0, -1.0))
_COUNTS = (2, 3, 1, 2)
"""Rows of the tensor that changes, one execution after the other."""
_TOLD = ("nothing", "what_is_known", "all", "what_is_known")
"""What the request of each of these executions says of the dimensions of its output."""


@cases.case("data.computed_shape", "NNHAL-SHAPE-002", "NNHAL-EXECUTE-001", "NNHAL-PREPARE-014", since=Version.V1_3)
def computed_shape(context: CaseContext) -> None:
    """A shape that the model computes itself, from inputs, is another one in each execution."""
    prepared_model = prepared_or_unsupported(context, RESHAPING)
    data, sizes, output = (context.pool(4 * count) for count in (_ELEMENTS, 4, _ELEMENTS))
    content = struct.pack(f"<{_ELEMENTS}f", *range(_ELEMENTS))
    data.write(0, content)
    places = (DataLocation(0, 0, len(content)), DataLocation(1, 0, 8), DataLocation(1, 8, 8))
    pools = tuple(RequestMemoryPool(pool=pool.memory) for pool in (data, sizes, output))
    target = RequestArgument(location=DataLocation(2, 0, len(content)))
    request = Request(tuple(RequestArgument(location=place) for place in places), (target,), pools)
    for executor in executors(context.version, finding_shapes=True):
        with context.configuration(executor):
            run = bind(context, prepared_model, request, executor=executor)
            for number, shape in enumerate(_SHAPES):
                sizes.write(0, struct.pack("<4i", shape[0] - number, 1, number, shape[1] - 1))
                output.write(0, bytes(len(content)))
                _has_shape(run(), shape, f"execution whose model computes the shape {shape}", is_first=number == 0)
                with checks.about("NNHAL-EXECUTE-001"):
                    checks.equal(bytes(output.read(0, len(content))), content, "elements in the new shape")


RESHAPING = Model(
    graph(
        [
            tensor(_FLOATS, [_ELEMENTS], _INPUT),
            tensor(_INTS, [2], _INPUT),
            tensor(_INTS, [2], _INPUT),
            constant(OperandType.INT32, [], 0, 4),
            tensor(_INTS, [2], OperandLifeTime.TEMPORARY_VARIABLE),
            tensor(_FLOATS, [0, 0], _OUTPUT),
        ],
        [Operation(OperationType.ADD, (1, 2, 3), (4,)), Operation(OperationType.RESHAPE, (0, 4), (5,))],
    ),
    operand_values=bytes(4),
)
"""RESHAPE of twelve floats into a matrix, whose shape is the sum of two inputs."""


@cases.case("shapes.of_one_input", "NNHAL-PREPARE-014", "NNHAL-SHAPE-002", "NNHAL-EXECUTE-001", since=Version.V1_2)
def of_one_input(context: CaseContext) -> None:
    """One input has another shape in each execution while the other keeps its own, and stays the same."""
    chosen = addition.supported(context)
    for name, changing in {"second": 1, "first": 0}.items():
        prepared_model = prepared_or_unsupported(context, _with_rows(chosen, changing))
        for executor in executors(context.version, finding_shapes=True):
            with context.configuration(f"{name}.{executor}"):
                for turn in range(len(_COUNTS)):
                    _adds_rows(context, chosen, prepared_model, changing, turn, executor)


def _with_rows(chosen: Addition, changing: int) -> Model:
    """The addition where one summand and the sum have rows, of a number that is not known."""
    model = chosen.model()
    operands = [
        replace(operand, dimensions=(0, chosen.elements)) if index in (changing, 3) else operand
        for index, operand in enumerate(model.main.operands)
    ]
    return replace(model, main=replace(model.main, operands=tuple(operands)))


def _adds_rows(
    context: CaseContext, chosen: Addition, prepared_model: PreparedModel, changing: int, turn: int, executor: str
) -> None:
    """Add as many rows as it is the turn of to A, which is the same for each."""
    count = _COUNTS[turn]
    summands, sums = context.pool((count + 1) * SIZE), context.pool(count * SIZE)
    rows = b"".join(chosen.packed(values) for values in _ROWS[:count])
    summands.write(0, chosen.packed(addition.A) + rows)
    same = RequestArgument(location=DataLocation(0, 0, SIZE))
    other = RequestArgument(location=DataLocation(0, SIZE, count * SIZE), dimensions=(count, chosen.elements))
    told = {"nothing": (), "what_is_known": (0, chosen.elements), "all": (count, chosen.elements)}[_TOLD[turn]]
    target = RequestArgument(location=DataLocation(1, 0, count * SIZE), dimensions=told)
    pools = tuple(RequestMemoryPool(pool=pool.memory) for pool in (summands, sums))
    request = Request((same, other) if changing else (other, same), (target,), pools)
    what = f"{executor} execution with {count} rows"
    execution = bind(context, prepared_model, request, executor=executor)()
    _has_shape(execution, (count, chosen.elements), what, is_first=turn == 0)
    for number, values in enumerate(_ROWS[:count]):
        expected = (addition.A[0] + values[0], addition.A[1] + values[1])
        chosen.check(bytes(sums.read(number * SIZE, SIZE)), expected, f"row {number}, {what}")


@cases.case(
    "shapes.of_branches", "NNHAL-PREPARE-014", "NNHAL-CONTROLFLOW-016", "NNHAL-CONTROLFLOW-005", since=Version.V1_3
)
def of_branches(context: CaseContext) -> None:
    """What an IF gives has another shape in each execution, where model and branches leave it open."""
    prepared_model = prepared_or_unsupported(context, _BRANCHING)
    for turn, rows in enumerate(_COUNTS):
        _doubles_rows(context, prepared_model, rows, is_first=turn == 0)


def _doubles_rows(context: CaseContext, prepared_model: PreparedModel, rows: int, *, is_first: bool) -> None:
    """Execute once: the branch gives the double of a tensor of rows of two floats."""
    what, pool, size = f"IF over {rows} rows", context.pool(256), rows * SIZE
    values = [float(number - 3) for number in range(2 * rows)]
    pool.write(0, bytes([rows % 2]))
    pool.write(64, struct.pack(f"<{2 * rows}f", *values))
    flag, data, output = (
        RequestArgument(location=DataLocation(0, *place)) for place in ((0, 1), (64, size), (128, size))
    )
    inputs = (flag, replace(data, dimensions=(rows, 2)))
    request = Request(inputs, (output,), (RequestMemoryPool(pool=pool.memory),))
    _has_shape(bind(context, prepared_model, request)(), (rows, 2), what, is_first=is_first)
    doubled = tuple(2 * value for value in values)
    checks.equal(struct.unpack(f"<{2 * rows}f", pool.read(128, size)), doubled, f"output of {what}")


_DATA, _RESULT = (tensor(_FLOATS, (0, 2), lifetime) for lifetime in (_INPUT, _OUTPUT))
_DOUBLE = graph(
    [_DATA, constant(OperandType.INT32, [], 0, 4), _RESULT], [Operation(OperationType.ADD, (0, 0, 1), (2,))]
)
_BRANCHING = Model(
    graph(
        [tensor(OperandType.TENSOR_BOOL8, [1], _INPUT), reference(0), reference(1), _DATA, _RESULT],
        [Operation(OperationType.IF, (0, 1, 2, 3), (4,))],
    ),
    (_DOUBLE, _DOUBLE),
    operand_values=bytes(4),
)
"""IF whose branches both double."""


def _has_shape(execution: Execution, shape: tuple[int, ...], what: str, *, is_first: bool) -> None:
    """NotSupported where a device declines the first of several shapes: who finds out one finds out another."""
    if is_first and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with outputs that are not fully specified")
    checks.status(execution.status, {ErrorStatus.NONE}, what)
    for found in execution.output_shapes:
        checks.equal((found.dimensions, found.is_sufficient), (shape, True), f"shape of the output, {what}")
