"""What an execution says of the shapes of its outputs, and what it does where an output does not fit."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL, untouched_outside
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    in_pools,
    shape_rules,
    timing_rules,
)
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    NO_LOOP_TIMEOUT,
    DataLocation,
    OutputShape,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition, Values
from npu_conformance.vts.lib.preparing import prepared, prepared_or_unsupported
from npu_conformance.vts.lib.rejection import asked_by_text_alone
from npu_conformance.vts.lib.sums import Sum, has_size, of_size, sum_of, twice, with_dimensions
from npu_conformance.vts.lib.support import supports

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_SHORT = {"first": (0,), "second": (1,), "both": (0, 1)}
_ZERO_SIZED = ("zero_sized", "batch_zero", "no_boxes", "nothing_left")
"""How vectors are called whose outputs have no elements."""


@cases.case("shapes.specified", "NNHAL-SHAPE-001", "NNHAL-SHAPE-003", since=Version.V1_2)
def specified(context: CaseContext) -> None:
    """Of outputs that are fully specified, a device reports all shapes or none."""

    def check(asked: Sum, execution: Execution) -> None:
        asked.check(execution, "execution with specified outputs")
        if execution.output_shapes:
            _all_shapes(asked, execution)

    _by_each_executor(context, check)


@cases.case("shapes.unknown", "NNHAL-SHAPE-002", "NNHAL-SHAPE-003", since=Version.V1_2)
def unknown(context: CaseContext) -> None:
    """Of outputs whose sizes, or also ranks, are unknown, a device reports every shape, exactly."""

    def check(asked: Sum, execution: Execution) -> None:
        asked.check(execution, "execution with unspecified outputs")
        _all_shapes(asked, execution)

    _by_each_executor(context, check, model_dimensions=(0,), name="sizes")
    _by_each_executor(context, check, model_dimensions=(), name="ranks")


@cases.case(
    "shapes.insufficient",
    "NNHAL-SHAPE-004",
    "NNHAL-SHAPE-005",
    "NNHAL-SHAPE-006",
    "NNHAL-TIMING-002",
    since=Version.V1_2,
)
def insufficient(context: CaseContext) -> None:
    """Outputs that lack a byte are marked, and no others; nothing is written outside; the next execution is right."""
    for name, short in _SHORT.items():
        for known in (True, False):
            _by_each_executor(
                context,
                functools.partial(_is_insufficient, context, short, known),
                short=short,
                model_dimensions=None if known else (0,),
                name=f"{name}.{'specified' if known else 'unspecified'}",
            )


@cases.case("shapes.of_one_place", "NNHAL-PREPARE-014", "NNHAL-SHAPE-002", "NNHAL-EXECUTE-001", since=Version.V1_2)
def of_one_place(context: CaseContext) -> None:
    """Two inputs that lie in the same bytes have each the shape that the request says: a row and a column."""
    chosen = addition.supported(context)
    prepared_model = prepared_or_unsupported(context, with_dimensions(chosen.model(), (0, 0), inputs=True))
    count, asked = chosen.elements, sum_of(context, chosen)
    output = context.pool(count * addition.SIZE)
    row, column = ((1, count), (count, 1))
    place = asked.request.inputs[0].location
    for name in executors(context.version):
        for first, second in ((row, column), (column, row), (row, row)):
            with context.configuration(f"{name}.{'x'.join(map(str, (*first, *second)))}"):
                shape = tuple(map(max, first, second))
                size = addition.SIZE * shape[0]
                inputs = tuple(RequestArgument(location=place, dimensions=one) for one in (first, second))
                outputs = (RequestArgument(location=DataLocation(1, length=size), dimensions=shape),)
                pools = (asked.request.pools[0], RequestMemoryPool(pool=output.memory))
                output.write(0, bytes([FILL]) * size)
                execution = bind(context, prepared_model, Request(inputs, outputs, pools), executor=name)()
                checks.status(execution.status, {ErrorStatus.NONE}, f"execution of {first} and {second} in one place")
                what = f"sum of {first} and {second} in one place"
                chosen.check(bytes(output.read(0, size)), _sum_with_itself(chosen, is_square=first != second), what)


def _sum_with_itself(chosen: Addition, *, is_square: bool) -> Values:
    """A row of A and itself; or as a row and a column, two rows of it: the others repeat them."""
    row = addition.A * (chosen.elements // 2)
    if not is_square:
        return tuple(2 * one for one in addition.A)
    return tuple(one + other for one in addition.A for other in row)


@cases.case("shapes.insufficient_is_a_result", "NNHAL-ERROR-007", "NNHAL-SHAPE-004", since=Version.FL5)
def insufficient_is_a_result(context: CaseContext) -> None:
    """An output that does not fit is reported in a result with outputSufficientSize false, not as an error."""
    chosen = addition.supported(context)
    asked, prepared_model = sum_of(context, chosen), chosen.prepared(context)
    request = asked.with_output(length=addition.SIZE - 1)
    try:
        result = prepared_model.execute_synchronously(request, False, NO_DEADLINE, NO_LOOP_TIMEOUT)
    except ServiceError as error:
        _may_decline(Execution(error.status, (), None))
        checks.fail("executeSynchronously with an output that does not fit", "a result", checks.format_error(error))
    checks.equal(result.output_sufficient_size, False, "outputSufficientSize")
    checks.equal(len(result.output_shapes), 1, "number of output shapes")


@cases.case("shapes.padding_is_no_room", "NNHAL-SHAPE-008", "NNHAL-REQUEST-013", since=Version.FL5)
def padding_is_no_room(context: CaseContext) -> None:
    """An output that lacks a byte does not fit, whatever padding lies behind it; and none of it goes there."""
    chosen = addition.supported(context)
    prepared_model = prepared_or_unsupported(context, twice(chosen.model()))
    asked, length = sum_of(context, chosen, outputs=2), addition.SIZE - 1
    names = executors(context.version, finding_shapes=True)
    for number, executor in itertools.product(range(2), names):
        with context.configuration(f"{executor}.{('first', 'second')[number]}"):
            asked.clear()
            request = asked.with_output(number, length=length, padding=64 - length)
            execution = bind(context, prepared_model, request, executor=executor)()
            _may_decline(execution)
            expected = {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}
            checks.status(execution.status, expected, "execution with an output that would fit into its padding")
            behind = set(asked.outputs.read(64 * number + length, 64 - length))
            checks.equal(behind, {FILL}, "bytes of the padding behind the output")


@cases.case("shapes.none_of_a_failure", "NNHAL-SHAPE-007", "NNHAL-TIMING-002", since=Version.V1_2)
def none_of_a_failure(context: CaseContext) -> None:
    """An execution that is rejected reports neither shapes nor times, and writes nothing."""

    def check(asked: Sum, execution: Execution) -> None:
        with checks.about("NNHAL-ERROR-005"):
            checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, "execution of the invalid request")
        checks.equal(set(asked.result()), {FILL}, "bytes of the output of a rejected execution")

    _by_each_executor(context, check, invalid=True)


@cases.case("shapes.zero_sized", "NNHAL-SHAPE-010", since=Version.V1_2)
def zero_sized(context: CaseContext) -> None:
    """Outputs without elements are reported as such, and nothing is written outside the memory that they have."""
    vector = _zero_sized(context)
    built = build_request(vector, vector.examples[0], context.version)
    request, outputs = in_pools(context, built)
    outputs.write(0, bytes([FILL]) * built.output_size)
    expected = tuple(vector.examples[0].outputs[name].shape for name in vector.outputs)
    prepared_model = prepared(context, vector, unspecified=True)
    without_memory = replace(
        request, outputs=tuple(RequestArgument(location=DataLocation(pool_index=1)) for _ in request.outputs)
    )
    rooms = {"": request, ".without_memory": without_memory}
    for executor, (name, asked) in itertools.product(executors(context.version, finding_shapes=True), rooms.items()):
        with context.configuration(executor + name):
            execution = bind(context, prepared_model, asked, executor=executor)()
            _may_decline(execution)
            checks.status(execution.status, {ErrorStatus.NONE}, "execution with outputs that have no elements")
            found = tuple(shape.dimensions for shape in execution.output_shapes)
            checks.equal(found, expected, "dimensions of outputs without elements")
            content = outputs.read(0, built.output_size)
            if asked is without_memory:
                checks.equal(set(content), {FILL}, "bytes where outputs without elements have no memory")
            else:
                untouched_outside(built, content, with_padding=False)
            outputs.write(0, bytes([FILL]) * built.output_size)


@cases.case("shapes.other_sizes", "NNHAL-PREPARE-014")
def other_sizes(context: CaseContext) -> None:
    """A model whose sizes are unknown is executed with one size, another one, and the first one again."""
    chosen = addition.supported(context)
    prepared_model = prepared_or_unsupported(context, with_dimensions(chosen.model(), (0,), inputs=True))
    asked = sum_of(context, chosen)
    for executor in executors(context.version):
        with context.configuration(executor):
            for elements in (chosen.elements, 1, chosen.elements):
                asked.clear()
                request = of_size(asked, elements)
                has_size(asked, bind(context, prepared_model, request, executor=executor)(), elements)


def _by_each_executor(
    context: CaseContext,
    check: Callable[[Sum, Execution], None],
    *,
    short: tuple[int, ...] = (),
    model_dimensions: tuple[int, ...] | None = None,
    invalid: bool = False,
    name: str = "",
) -> None:
    """Execute the addition with two outputs by each executor, check what comes back, and execute as it should be.

    short: outputs that get a byte too few. model_dimensions: of the outputs in the model, None where it gives them all.
    invalid: the request lacks an output. name: in front of the names of configurations.
    """
    chosen = addition.supported(context)
    model = twice(chosen.model())
    if model_dimensions is not None:
        model = with_dimensions(model, model_dimensions)
    prepared_model = prepared_or_unsupported(context, model)
    asked = sum_of(context, chosen, outputs=2)
    outputs = tuple(
        asked.with_output(number, length=addition.SIZE - (number in short)).outputs[number] for number in range(2)
    )
    request = replace(asked.request, outputs=outputs[:1] if invalid else outputs)
    for executor in executors(context.version, finding_shapes=True):
        with context.configuration(f"{name}.{executor}" if name else executor):
            for measured in (False, True):
                asked.clear()
                execution = bind(context, prepared_model, request, ExecutionOptions(measure=measured), executor)()
                shape_rules(execution)
                timing_rules(context, execution, measured=measured)
                if (short or model_dimensions is not None) and not measured:
                    _may_decline(execution)
                check(asked, execution)
            other = asked.put((-3.0, 1.5))
            other.check(bind(context, prepared_model, asked.request, executor=executor)(), "the execution after it")
            asked.put(addition.B)


def _may_decline(execution: Execution) -> None:
    """NotSupported where a device says that it does not find out the shapes of outputs, as it may (SHAPE-009)."""
    if execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with outputs that are not sufficient and fully specified")


def _all_shapes(asked: Sum, execution: Execution) -> None:
    with checks.about(*(() if all(one.is_sufficient for one in execution.output_shapes) else ("NNHAL-SHAPE-003",))):
        checks.equal(execution.output_shapes, (OutputShape((asked.chosen.elements,), True),) * 2, "output shapes")


def _is_insufficient(
    context: CaseContext, short: tuple[int, ...], known: bool, asked: Sum, execution: Execution
) -> None:
    expected = {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}
    checks.status(execution.status, expected, f"execution with outputs {short} too small")
    flags = tuple(shape.is_sufficient for shape in execution.output_shapes)
    with checks.about("NNHAL-SHAPE-005"), asked_by_text_alone(context, when=not known and flags == (False, True)):
        checks.equal(flags, tuple(number not in short for number in range(2)), "isSufficient of the outputs")
    for shape in execution.output_shapes:
        sizes = {(asked.chosen.elements,), (0,)}
        with checks.about("NNHAL-SHAPE-006"):
            checks.member(shape.dimensions, sizes, "dimensions where an output does not fit")
        if known and 0 in shape.dimensions:
            context.warn_quality("where an output does not fit, sizes that the model gives are reported as unknown")
    for number in short:
        behind = asked.result(number)[-1:]
        checks.equal(behind, bytes([FILL]), f"byte behind output {number}, which is too small")


def _zero_sized(context: CaseContext) -> Vector:
    """The first vector whose outputs have no elements that the device supports; NotSupported where there is none."""
    for operation in vectors.operations():
        for header in vectors.headers(operation):
            if header.since <= context.version and not header.rejected and header.name.endswith(_ZERO_SIZED):
                vector = vectors.load(operation, header.name)
                if supports(context, vector) and all(array.size == 0 for array in vector.examples[0].outputs.values()):
                    return vector
    raise NotSupported("the device supports no model whose outputs have no elements")
