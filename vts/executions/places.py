"""Arguments and constants lie where their offsets say: at any multiple of the size of their elements."""

from __future__ import annotations

import itertools
import struct

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import ADDITIONS, SIZE, Addition
from npu_conformance.vts.lib.memory_domains.fixture import types_of
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.scalar_models import REALS, largest, padding
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, POOL, constant, graph, tensor
from npu_conformance.vts.lib.sums import Sum, sum_of, with_dimensions

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_POOL, _SCALAR = 64, 8


@cases.case("layout.odd_places", "NNHAL-EXECUTE-009", "NNHAL-EXECUTE-001", "NNHAL-MODEL-031")
def odd_places(context: CaseContext) -> None:
    """Arguments and constants may begin at odd multiples of their elements' size, which need not be aligned to more."""
    addition.supported(context)
    for chosen, executor in itertools.product(ADDITIONS, executors(context.version)):
        if chosen.since <= context.version and all(context.supported_operations(chosen.model())):
            name = f"{chosen.operand_type.name.lower()}.{executor}"
            with context.configuration(f"{name}.arguments"):
                _adds_at_odd_places(context, chosen, executor, chosen.prepared(context), inputs=2)
            with context.configuration(f"{name}.constant"):
                prepared_model = _with_constant_at_odd_place(context, chosen)
                _adds_at_odd_places(context, chosen, executor, prepared_model, inputs=1)


def _with_constant_at_odd_place(context: CaseContext, chosen: Addition) -> PreparedModel:
    """The model whose second summand lies behind one foreign element of a pool."""
    pool, element = context.pool(_POOL), SIZE // chosen.elements
    pool.write(0, bytes([FILL]) * _POOL)
    pool.write(element, chosen.packed(addition.B))
    model = chosen.model_with_constant(pool.memory, location=DataLocation(0, element, SIZE))
    return prepared_or_unsupported(context, model)


def _adds_at_odd_places(
    context: CaseContext, chosen: Addition, executor: str, prepared_model: PreparedModel, *, inputs: int
) -> None:
    asked, element = sum_of(context, chosen), SIZE // chosen.elements
    request = _at_odd_places(asked, element, inputs)
    execution = bind(context, prepared_model, request, executor=executor)()
    checks.status(execution.status, {ErrorStatus.NONE}, f"{executor} execution with arguments at odd places")
    found = bytes(asked.outputs.read(0, 2 * element + SIZE))
    chosen.check(found[element : element + SIZE], asked.expected, "sum at an odd place")
    with checks.about("NNHAL-REQUEST-013"):
        checks.equal({*found[:element], *found[element + SIZE :]}, {FILL}, "bytes around the output")


def _at_odd_places(asked: Sum, element: int, inputs: int) -> Request:
    """The request with one element in front of each input and of the output."""
    places = (element, 2 * element + SIZE)
    for place, values in zip(places, (addition.A, addition.B), strict=True):
        asked.inputs.write(place, asked.chosen.packed(values))
    arguments = tuple(RequestArgument(location=DataLocation(0, place, SIZE)) for place in places[:inputs])
    return replace(asked.with_output(offset=element), inputs=arguments)


@cases.case("layout.odd_lengths", "NNHAL-EXECUTE-009", "NNHAL-REQUEST-012", "NNHAL-REQUEST-013")
def odd_lengths(context: CaseContext) -> None:
    """Outputs of an odd number of elements at odd places are written whole, and nothing beside them."""
    addition.supported(context)
    ways = itertools.cycle(executors(context.version))
    for chosen in ADDITIONS:
        for count in range(1, chosen.elements, 2):
            model = with_dimensions(chosen.model(), (count,), inputs=True)
            if chosen.since <= context.version and all(context.supported_operations(model)):
                executor = next(ways)
                with context.configuration(f"{chosen.operand_type.name.lower()}.{count}.{executor}"):
                    _adds_few(context, chosen, prepared_or_unsupported(context, model), count, executor)


def _adds_few(context: CaseContext, chosen: Addition, prepared_model: PreparedModel, count: int, executor: str) -> None:
    asked, element = sum_of(context, chosen), SIZE // chosen.elements
    request, length = _at_odd_places(asked, element, 2), count * element
    inputs, outputs = (tuple(_of_length(one, length) for one in each) for each in (request.inputs, request.outputs))
    execution = bind(context, prepared_model, Request(inputs, outputs, request.pools), executor=executor)()
    what = f"{executor} execution of {count} elements at odd places"
    checks.status(execution.status, {ErrorStatus.NONE}, what)
    found = bytes(asked.outputs.read(0, 2 * element + SIZE))
    chosen.check(found[element : element + length] + chosen.packed(asked.expected)[length:], asked.expected, what)
    with checks.about("NNHAL-REQUEST-013"):
        checks.equal({*found[:element], *found[element + length :]}, {FILL}, f"bytes around the output, {what}")


def _of_length(argument: RequestArgument, length: int) -> RequestArgument:
    return replace(argument, location=replace(argument.location, length=length))


@cases.case("layout.scalars", "NNHAL-EXECUTE-009", "NNHAL-EXECUTE-001", since=Version.V1_2)
def scalars(context: CaseContext) -> None:
    """A scalar of one or two bytes may begin at any multiple of its size: the bytes around it are not read."""
    executed = False
    for chosen in types_of(context):
        given, called = chosen.packed(addition.A), chosen.operand_type.name.lower()
        models = [(largest(chosen), b"\1", chosen.packed((max(addition.A),) * 2)[: SIZE // chosen.elements])]
        if chosen.operand_type in REALS:
            scalar, form = REALS[chosen.operand_type]
            models.append((padding(chosen, scalar), struct.pack(form, 2.5), given + chosen.packed((2.5, 2.5))))
        for model, data, expected in models:
            if all(context.supported_operations(model)):
                prepared_model, executed = prepared_or_unsupported(context, model), True
                for executor in executors(context.version):
                    with context.configuration(f"{called}.bytes_{len(data)}.{executor}"):
                        _with_scalar_anywhere(context, given, prepared_model, data, expected, executor)
    if not executed:
        raise NotSupported("no operation with a scalar of one or two bytes is supported")


def _with_scalar_anywhere(
    context: CaseContext, given: bytes, prepared_model: PreparedModel, data: bytes, expected: bytes, executor: str
) -> None:
    """Execute with a scalar at each place of two words whose other bytes are zero."""
    pool, size = context.pool(_POOL), len(expected)
    pool.write(0, given)
    for place in range(0, _SCALAR, len(data)):
        pool.write(SIZE, bytes(_SCALAR))
        pool.write(SIZE + place, data)
        places = (DataLocation(0, 0, SIZE), DataLocation(0, SIZE + place, len(data)), DataLocation(0, 2 * SIZE, size))
        first, scalar, output = (RequestArgument(location=one) for one in places)
        request = Request((first, scalar), (output,), (RequestMemoryPool(pool=pool.memory),))
        what = f"{executor} execution with a scalar of {len(data)} bytes at byte {place}"
        execution = bind(context, prepared_model, request, executor=executor)()
        checks.status(execution.status, {ErrorStatus.NONE}, what)
        checks.equal(bytes(pool.read(2 * SIZE, size)), expected, f"output of {what}")


@cases.case("layout.inputs_of_one_place", "NNHAL-REQUEST-005", "NNHAL-EXECUTE-001")
def inputs_of_one_place(context: CaseContext) -> None:
    """Two inputs may lie in one place: only outputs overlap nothing else."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for executor in executors(context.version):
        with context.configuration(executor):
            asked = sum_of(context, chosen)
            first, _ = asked.request.inputs
            execution = bind(
                context, prepared_model, replace(asked.request, inputs=(first, first)), executor=executor
            )()
            checks.status(execution.status, {ErrorStatus.NONE}, f"{executor} execution with two inputs of one place")
            chosen.check(asked.result(), (2 * addition.A[0], 2 * addition.A[1]), "sum of an input and itself")


@cases.case("layout.constants_of_one_place", "NNHAL-MODEL-030", "NNHAL-MODEL-031", "NNHAL-EXECUTE-001")
def constants_of_one_place(context: CaseContext) -> None:
    """Constants may lie in the same bytes, each of its own shape and type: here two summands and a shape."""
    pool = context.filled_pool(_SHAPE)
    models = {
        "copied": replace(_SHARING, operand_values=_SHAPE + bytes(4)),
        "pooled": replace(_SHARING, main=_in_a_pool(_SHARING.main), operand_values=bytes(SIZE + 4), pools=(pool,)),
    }
    for name, model in models.items():
        with context.configuration(name):
            _adds_shared(context, prepared_or_unsupported(context, model))


def _adds_shared(context: CaseContext, prepared_model: PreparedModel) -> None:
    data, result = context.filled_pool(struct.pack("<2f", *addition.A)), context.pool(SIZE)
    given, taken = (RequestArgument(location=DataLocation(pool, 0, SIZE)) for pool in range(2))
    pools = tuple(RequestMemoryPool(pool=one) for one in (data, result.memory))
    execution = bind(context, prepared_model, Request((given,), (taken,), pools))()
    checks.status(execution.status, {ErrorStatus.NONE}, "execution with constants that share their bytes")
    addition.FLOAT32.check(bytes(result.read(0, SIZE)), addition.A, "sum with constants that share their bytes")


_SHAPE = struct.pack("<2i", 2, 1)
"""As floats these are smaller than any step of a sum."""
_FLOATS = OperandType.TENSOR_FLOAT32
_SHARING = Model(
    graph(
        [
            tensor(_FLOATS, (1, 2), INPUT),
            constant(_FLOATS, (2,), 0, SIZE),
            constant(_FLOATS, (1, 2), 0, SIZE),
            constant(OperandType.TENSOR_INT32, (2,), 0, SIZE),
            constant(OperandType.INT32, (), SIZE, 4),
            *[tensor(_FLOATS, (1, 2))] * 2,
            tensor(_FLOATS, (2, 1), OUTPUT),
        ],
        [
            Operation(OperationType.ADD, (0, 1, 4), (5,)),
            Operation(OperationType.ADD, (5, 2, 4), (6,)),
            Operation(OperationType.RESHAPE, (6, 3), (7,)),
        ],
    )
)
"""Adds the same bytes as two shapes, and reshapes by them. All constants but the activation begin at 0."""


def _in_a_pool(main: Subgraph) -> Subgraph:
    operands = (replace(one, lifetime=POOL) if 1 <= at <= 3 else one for at, one in enumerate(main.operands))
    return replace(main, operands=tuple(operands))
