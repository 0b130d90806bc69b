"""Buffers of open shape: what a request may say of them, and how they follow what is written to them.

A device may decline such buffers, and models whose sizes are not known.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, SUM, A, B, Pair
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    Argument,
    BufferFixture,
    Shape,
    by_each_executor,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3


def _needs_open_outputs(fixture: BufferFixture) -> None:
    if fixture.executor not in executors(fixture.context.version, finding_shapes=True):
        raise NotApplicable("a fenced execution knows the shapes of its outputs beforehand")


def _pool(fixture: BufferFixture, values: Pair, factor: int) -> Pool:
    return fixture.pool(fixture.chosen.packed(values) * factor)


def _adds_into(fixture: BufferFixture, model: PreparedModel, target: DeviceBuffer | Pool, factor: int) -> int:
    """Execute with `factor` times as many elements as usual; returns the status."""
    shape = (factor * fixture.elements,)
    inputs = [Argument(_pool(fixture, values, factor), shape) for values in (A, B)]
    return fixture.run(model, inputs, (target,)).status


def _adds_first(fixture: BufferFixture, model: PreparedModel, target: DeviceBuffer) -> int:
    """Execute into a buffer for the first time: NotSupported where the device finds no shapes so (NNHAL-SHAPE-009).

    It finds none where the output is in a pool, either.
    """
    status = _adds_into(fixture, model, target, 1)
    if status == GENERAL and _adds_into(fixture, model, fixture.pool(), 1) == GENERAL:
        raise NotSupported("the device does not find out the shape of an output in this way to execute")
    return status


def _holds(fixture: BufferFixture, made: DeviceBuffer, factor: int, what: str) -> None:
    size = len(fixture.chosen.packed(SUM))
    content = fixture.content(made, factor * size)
    for start in range(0, len(content), size):
        fixture.chosen.check(content[start : start + size], SUM, what)


@cases.case("shapes.contradicting_request", "NNHAL-MEMDOMAIN-027", since=_SINCE)
@by_each_executor
def contradicting_request(fixture: BufferFixture) -> None:
    """Dimensions that the model allows and the buffer does not are rejected, of an input and of an output."""
    model, usual, double = fixture.prepare(dimensions=(0,)), (fixture.elements,), (2 * fixture.elements,)
    made = fixture.allocate(model, inputs=(0,), outputs=(0,), dimensions=usual)
    fixture.fill(made, A)
    big, result = (
        Argument(_pool(fixture, B, 2), double),
        Argument(fixture.pool(2 * len(fixture.chosen.packed(B))), double),
    )
    fixture.fails(model, (Argument(made, double), big), (result,), INVALID, "execution with an input that contradicts")
    fixture.holds(made, A, "content after a rejected execution")
    fixture.fails(model, (big, big), (Argument(made, double),), INVALID, "execution with an output that contradicts")


@cases.case("shapes.contradicting_order", "NNHAL-MEMDOMAIN-027", "NNHAL-MEMDOMAIN-018", since=_SINCE)
@by_each_executor
def contradicting_order(fixture: BufferFixture) -> None:
    """A column is no row: dimensions of as many elements as the buffer's are rejected all the same."""
    row, column = (1, fixture.elements), (fixture.elements, 1)
    model = fixture.prepare(dimensions=(0, 0))
    made = fixture.allocate(model, inputs=(0,), outputs=(0,), dimensions=row)
    with checks.about("NNHAL-MEMDOMAIN-018"):
        checks.status(fixture.copy_from(made, fixture.chosen.packed(B), column), {INVALID}, "copyFrom of a column")
    fixture.fill(made, A, row)
    other, result = Argument(_pool(fixture, B, 1), column), Argument(fixture.pool(), column)
    fixture.fails(model, (Argument(made, column), other), (result,), INVALID, "execution with a row as a column")
    fixture.holds(made, A, "content after a rejected execution")
    fixture.fails(model, (other, other), (Argument(made, column),), INVALID, "execution with a column into a row")


@cases.case("shapes.contradicting_result", "NNHAL-MEMDOMAIN-028", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@by_each_executor
def contradicting_result(fixture: BufferFixture) -> None:
    """A result that the buffer was not allocated for fails the execution, and leaves the buffer without content."""
    _needs_open_outputs(fixture)
    model = fixture.prepare(dimensions=(0,))
    made = fixture.allocate(model, inputs=(0,), outputs=(0,), dimensions=(fixture.elements,))
    checks.status(_adds_first(fixture, model, made), {NONE}, "execution with a result that fits")
    for factor in (2, 3):
        checks.status(_adds_into(fixture, model, made, 1), {NONE}, "execution with a result that fits")
        _holds(fixture, made, 1, "result that fits")
        checks.status(_adds_into(fixture, model, made, factor), {GENERAL}, "execution with a result that does not fit")
        checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after a failed execution")
        one = Argument(made, (fixture.elements,))
        other = Argument(fixture.pool(), (fixture.elements,))
        fixture.fails(model, (one, other), (fixture.pool(),), GENERAL, "execution on the output of a failed execution")


@cases.case("shapes.resizing", "NNHAL-MEMDOMAIN-033", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@by_each_executor
def resizing(fixture: BufferFixture) -> None:
    """A buffer of open size takes longer and shorter outputs one after the other, and has the size of the last."""
    _needs_open_outputs(fixture)
    model, size = fixture.prepare(dimensions=(0,)), len(fixture.chosen.packed(A))
    made = fixture.allocate(model, outputs=(0,))
    checks.status(_adds_first(fixture, model, made), {NONE}, "execution of as many elements as the model has")
    for factor in (1, 3, 2, 64, 1):
        checks.status(
            _adds_into(fixture, model, made, factor), {NONE}, f"execution of {factor * fixture.elements} elements"
        )
        _holds(fixture, made, factor, f"result of {factor * fixture.elements} elements")
        checks.status(
            fixture.copy_to(made, (factor + 1) * size), {INVALID}, "copyTo of another size than the last output"
        )


@cases.case("shapes.of_last_output", "NNHAL-MEMDOMAIN-029", since=_SINCE)
@by_each_executor
def of_last_output(fixture: BufferFixture) -> None:
    """As an input a buffer has the shape of the last output, and no other that was there before."""
    _needs_open_outputs(fixture)
    model = fixture.prepare(dimensions=(0,))
    made = fixture.allocate(model, inputs=(0,), outputs=(0,))
    checks.status(_adds_first(fixture, model, made), {NONE}, "first execution into the buffer")
    for factor, before in ((1, 2), (2, 1), (1, 2)):
        checks.status(_adds_into(fixture, model, made, factor), {NONE}, "execution into the buffer")
        _is_input_of(fixture, model, made, factor)
        _is_rejected_as(fixture, model, made, before)


@cases.case("shapes.of_last_copy", "NNHAL-MEMDOMAIN-029", "NNHAL-MEMDOMAIN-027", since=_SINCE)
@by_each_executor
def of_last_copy(fixture: BufferFixture) -> None:
    """As an input a buffer has the shape of the last copy too."""
    model = fixture.prepare(dimensions=(0,))
    made = fixture.allocate(model, inputs=(0,))
    for factor, before in ((1, 2), (2, 1)):
        data = fixture.chosen.packed(SUM) * factor
        copied = fixture.copy_from(made, data, (factor * fixture.elements,))
        checks.status(copied, {NONE}, f"copyFrom of {len(data)} bytes")
        _is_input_of(fixture, model, made, factor)
        _is_rejected_as(fixture, model, made, before)


def _is_input_of(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer, factor: int) -> None:
    """The buffer holds SUM `factor` times; B is added once more."""
    shape: Shape = (factor * fixture.elements,)
    result = _pool(fixture, A, factor)
    places = (Argument(made, shape), Argument(_pool(fixture, B, factor), shape))
    fixture.succeeds(model, places, (Argument(result, shape),), f"execution with the buffer as input of shape {shape}")
    expected = (SUM[0] + B[0], SUM[1] + B[1])
    size = len(fixture.chosen.packed(B))
    for start in range(0, factor * size, size):
        fixture.chosen.check(bytes(result.read(start, size)), expected, f"sum of shape {shape}")


def _is_rejected_as(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer, factor: int) -> None:
    shape: Shape = (factor * fixture.elements,)
    places = (Argument(made, shape), Argument(_pool(fixture, B, factor), shape))
    result = Argument(_pool(fixture, A, factor), shape)
    fixture.fails(model, places, (result,), INVALID, f"execution with a shape {shape} that the buffer does not have")


@cases.case(
    "shapes.of_several_roles", "NNHAL-MEMDOMAIN-012", "NNHAL-MEMDOMAIN-018", "NNHAL-MEMDOMAIN-019", since=_SINCE
)
@by_each_executor
def of_several_roles(fixture: BufferFixture) -> None:
    """Where roles and descriptor each know other sizes, the buffer has all of them: no others, and none is open."""
    count = fixture.elements // 2
    rows, columns = fixture.prepare(dimensions=(0, 2)), fixture.prepare(dimensions=(count, 0))
    orders = [((rows, columns), ()), ((columns, rows), ()), ((rows,), (count, 0)), ((columns,), (0, 2))]
    for models, dimensions in orders:
        made = fixture.allocate(*models, inputs=(0,), dimensions=dimensions)
        for wrong in ((count, 4), (2 * count, 2), (0, 2), (count, 0)):
            data = bytes(2 * len(fixture.chosen.packed(A)))
            with checks.about("NNHAL-MEMDOMAIN-018"):
                checks.status(fixture.copy_from(made, data, wrong), {INVALID}, f"copyFrom with dimensions {wrong}")
        fixture.fill(made, A)
        result, shape = fixture.pool(), (count, 2)
        places = (Argument(made, shape), Argument(fixture.pool(fixture.chosen.packed(B)), shape))
        fixture.succeeds(models[0], places, (Argument(result, shape),), f"execution of shape {shape}")
        fixture.chosen.check(bytes(result.read(0, SIZE)), SUM, "sum")


@cases.case("shapes.unknown_rank", "NNHAL-MEMDOMAIN-033", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@by_each_executor
def unknown_rank(fixture: BufferFixture) -> None:
    """A buffer of which not even the rank is known takes shapes of any rank."""
    model, count = fixture.prepare(dimensions=()), fixture.elements
    made = fixture.allocate(model, inputs=(0,))
    data = fixture.chosen.packed(A)
    with checks.about("NNHAL-MEMDOMAIN-019"):
        copied = fixture.copy_from(made, data)
        checks.status(copied, {INVALID}, "copyFrom without dimensions to a buffer of unknown rank")
    for shape in ((count,), (count, 1), (1, count, 1)):
        checks.status(fixture.copy_from(made, data, shape), {NONE}, f"copyFrom of shape {shape}")
        result = fixture.pool()
        other = Argument(fixture.pool(fixture.chosen.packed(B)), shape)
        fixture.succeeds(
            model, (Argument(made, shape), other), (Argument(result, shape),), f"execution of shape {shape}"
        )
        fixture.chosen.check(bytes(result.read(0, len(data))), SUM, f"sum of shape {shape}")


_KINDS = ("copy", "output")
_WALK = (0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 1, 2, 1, 3, 1, 4, 1, 5, 2, 2, 3, 2, 4, 2, 5, 3, 3, 4, 3, 5, 4, 4, 5, 5, 0)
"""Each of six contents behind each: the way by which it came and its shape."""


@cases.case(
    "shapes.of_one_content_after_another", "NNHAL-MEMDOMAIN-029", "NNHAL-MEMDOMAIN-027", "NNHAL-MEMDOMAIN-033",
    "NNHAL-MEMDOMAIN-020", "NNHAL-MEMDOMAIN-016", since=_SINCE,
)  # fmt: skip
def of_one_content_after_another(context: CaseContext) -> None:
    """Copies and outputs of three shapes follow each other in each order: the buffer has the shape of the last.

    Two of the shapes have as many elements. Ways to execute take turns; before some contents a copy fails.
    """
    chosen = addition.supported(context)
    fixtures = [BufferFixture(context, chosen, executor) for executor in executors(context.version)]
    fixture, count = fixtures[0], chosen.elements
    model = fixture.prepare(dimensions=(0, 0))
    made = fixture.allocate(model, inputs=(0,), outputs=(0,))
    shapes: tuple[Shape, ...] = ((2, 2 * count), (4, count), (1, count))
    for number, content in enumerate(_WALK):
        kind, shape = _KINDS[content % 2], shapes[content // 2]
        if number % 5 == 4:
            checks.status(fixture.copy_from(made, bytes(SIZE), (3, count)), {INVALID}, "copyFrom of another size")
            checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after a failed copyFrom")
        writer, reader = fixtures[number % len(fixtures)], fixtures[(number * 4 + 1) % len(fixtures)]
        _give_content(writer, model, made, kind, shape)
        with checks.about("NNHAL-MEMDOMAIN-029"):
            _has_shape(reader, model, made, shape, [one for one in shapes if one != shape])


def _size_of(fixture: BufferFixture, shape: Shape) -> int:
    return shape[0] * shape[1] * SIZE // fixture.elements


def _arguments(fixture: BufferFixture, values: Pair, shape: Shape) -> Argument:
    return Argument(_pool(fixture, values, _size_of(fixture, shape) // SIZE), shape)


def _give_content(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer, kind: str, shape: Shape) -> None:
    """Fill a buffer with SUM in a shape, by a copy or by an execution."""
    if kind == "copy":
        data = fixture.chosen.packed(SUM) * (_size_of(fixture, shape) // SIZE)
        checks.status(fixture.copy_from(made, data, shape), {NONE}, f"copyFrom of shape {shape}")
        return
    inputs = [_arguments(fixture, values, shape) for values in (A, B)]
    fixture.succeeds(model, inputs, (Argument(made, shape),), f"execution into a buffer with an output of {shape}")


def _has_shape(
    fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer, shape: Shape, others: list[Shape]
) -> None:
    """See a buffer with SUM be an input of its shape and of no other, and be copied out whole."""
    size = _size_of(fixture, shape)
    for other in others:
        beside, result = _arguments(fixture, B, other), _arguments(fixture, A, other)
        what = f"execution with a buffer of shape {shape} as input of shape {other}"
        fixture.fails(model, (Argument(made, other), beside), (result,), INVALID, what)
        if _size_of(fixture, other) != size:
            status = fixture.copy_to(made, _size_of(fixture, other))
            checks.status(status, {INVALID}, f"copyTo of shape {shape} into memory for {other}")
    beside, result = _arguments(fixture, B, shape), _arguments(fixture, A, shape)
    fixture.succeeds(model, (Argument(made, shape), beside), (result,), f"execution with a buffer of shape {shape}")
    _holds(fixture, made, size // SIZE, f"content of shape {shape}")
    assert isinstance(result.place, Pool)
    fixture.chosen.check(bytes(result.place.read(size - SIZE, SIZE)), (SUM[0] + B[0], SUM[1] + B[1]), "end of the sum")
