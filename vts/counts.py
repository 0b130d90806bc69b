"""More objects, arguments, operations and bytes than a byte counts, or a small table holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.harness.run.executing.launching import Launched
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType, busy
from npu_conformance.specs.neuralnetworks.hal import Execution, PreparedModel
from npu_conformance.specs.neuralnetworks.types import ExecutionConfig
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition, many
from npu_conformance.vts.lib.addition import POOL, SIZE, Addition, Pair
from npu_conformance.vts.lib.fenced import FencedFixture, Sum
from npu_conformance.vts.lib.histories.recipe_models import model_of
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.memory_domains.fixture import Allocation, BufferFixture
from npu_conformance.vts.lib.preparing import prepared_or_unsupported

Made = TypeVar("Made")

cases = CaseGroup("vts.counts", group=Group.EXECUTION)

_BEYOND_A_BYTE = 260
_TOKENS = 4 * _BEYOND_A_BYTE
_OPERATIONS = 1100
_DIFFERENT = 307
_CARRIED = 20
_REUSABLE = _NAMES = 130
_WAITING = 70
_LARGE = (3 << 19) + 13 * SIZE
"""Bytes of a buffer: a mebibyte and a half, and no whole page."""


@cases.case("models.alive", "NNHAL-PREPARE-013")
def models_alive(context: CaseContext) -> None:
    """Each of 260 prepared models that live adds its own constant; a device may have no room for so many."""
    chosen, pool = addition.supported(context), context.pool(POOL)
    values = many.pairs(_BEYOND_A_BYTE)
    made = [model_of(Recipe(1, ((0, 1),), constants=(one,), chosen=chosen)) for one in values]

    def make(number: int) -> PreparedModel:
        preparation = context.prepare(made[number + 1])
        if preparation.prepared_model is None:
            raise ServiceError(preparation.status or ErrorStatus.NONE, "no model was prepared")
        return preparation.prepared_model

    prepared = [prepared_or_unsupported(context, made[0]), *_as_many(context, _BEYOND_A_BYTE - 1, make, had=1)]
    for number, prepared_model in reversed(list(enumerate(prepared))):
        chosen.adds(context, prepared_model, pool, values[number], inputs=1, what=f"model {number} of {len(prepared)}")


@cases.case("models.operations", "NNHAL-EXECUTE-001", "NNHAL-SUPPORT-005")
def operations(context: CaseContext) -> None:
    """A model of 1100 operations is executed to its end."""
    chosen, start = addition.supported(context), (1.5, -2.0)
    model = prepared_or_unsupported(context, many.chain(chosen, _OPERATIONS))
    (found,) = many.computed(context, model, [chosen.packed(start)], [SIZE], f"execution of {_OPERATIONS} additions")
    chosen.check(found, many.end_of_chain(start, _OPERATIONS), f"result of {_OPERATIONS} additions", _OPERATIONS)


@cases.case("models.different_operations", "NNHAL-EXECUTE-001")
def different_operations(context: CaseContext) -> None:
    """Of 307 operations that differ in types, constants and scales each gives its own result, in every type."""
    for chosen in addition.all_supported(context):
        with context.configuration(chosen.operand_type.name):
            types = [one for one in many.COMPUTED if _has(context, chosen, one)]
            if not types:
                raise NotSupported("the device has no operation on an input and a constant beside others")
            _give_each_its_own(context, chosen, types, (1.5, -2.0))


def _has(context: CaseContext, chosen: Addition, operation: OperationType) -> bool:
    """True for an operation that the device has in the type."""
    model = many.different(chosen, [operation], 3)
    return not validate_model(model, context.version) and all(context.supported_operations(model))


def _give_each_its_own(context: CaseContext, chosen: Addition, types: list[OperationType], start: Pair) -> None:
    model, pieces = prepared_or_unsupported(context, many.different(chosen, types, _DIFFERENT)), many.PIECES
    what = f"execution of {_DIFFERENT} operations that differ"
    found = many.computed(context, model, [chosen.packed(start * pieces)], [SIZE * pieces] * _DIFFERENT, what)
    for number, value in enumerate(many.of_different(types, _DIFFERENT, start)):
        many.scaled(chosen, number).check(found[number], value * pieces, f"result of operation {number}, {what}")


@cases.case("models.inputs", "NNHAL-EXECUTE-001")
def inputs(context: CaseContext) -> None:
    """An operation of 260 inputs, which the request gives, joins all of them."""
    chosen, values = addition.supported(context), many.pairs(_BEYOND_A_BYTE)
    model = prepared_or_unsupported(context, many.joined(chosen, len(values)))
    given = [chosen.packed(one) for one in values]
    (found,) = many.computed(context, model, given, [len(values) * SIZE], f"execution of {len(values)} inputs")
    for number, value in enumerate(values):
        chosen.check(found[number * SIZE :][:SIZE], value, f"input {number} of {len(values)}, joined")


@cases.case("models.outputs", "NNHAL-EXECUTE-001", since=Version.V1_2)
def outputs(context: CaseContext) -> None:
    """An operation of 260 outputs, which the request takes, gives each its part."""
    chosen, values = addition.supported(context), many.pairs(_BEYOND_A_BYTE)
    model = prepared_or_unsupported(context, many.split(chosen, len(values)))
    whole = b"".join(map(chosen.packed, values))
    found = many.computed(context, model, [whole], [SIZE] * len(values), f"execution of {len(values)} outputs")
    for number, (output, value) in enumerate(zip(found, values, strict=True)):
        chosen.check(output, value, f"output {number} of {len(values)}")


@cases.case("graphs.referenced", "NNHAL-CONTROLFLOW-016", since=Version.V1_3)
def referenced(context: CaseContext) -> None:
    """A model refers to 260 graphs, two in each IF; each adds its own constant."""
    chosen, start, added = addition.supported(context), (0.5, -1.0), many.pairs(_BEYOND_A_BYTE)
    model = prepared_or_unsupported(context, many.branches(chosen, added))
    for condition, taken in ((b"\1", added[::2]), (b"\0", added[1::2])):
        what = f"execution of {len(added)} graphs, condition {condition[0]}"
        found = many.computed(context, model, [condition, chosen.packed(start)], [SIZE] * len(taken), what)
        for number, (output, one) in enumerate(zip(found, taken, strict=True)):
            chosen.check(output, addition.plus(start, one), f"output {number}, {what}")


@cases.case("graphs.nested", "NNHAL-CONTROLFLOW-016", since=Version.V1_3)
def nested(context: CaseContext) -> None:
    """Graphs are nested twelve deep, and each adds its constant."""
    chosen, total = addition.supported(context), (1.0, 0.25)
    added = many.STEPS + many.STEPS[:5]
    model = prepared_or_unsupported(context, many.nested(chosen, added))
    (found,) = many.computed(context, model, [chosen.packed(total)], [SIZE], "execution of nested graphs")
    for one in added:
        total = addition.plus(total, one)
    chosen.check(found, total, "sum of all graphs", len(added))


@cases.case("graphs.carried", "NNHAL-CONTROLFLOW-017", since=Version.V1_3)
def carried(context: CaseContext) -> None:
    """A loop carries 20 sums from round to round, beside its counter."""
    chosen, values = addition.supported(context), many.pairs(_CARRIED)
    recipe = Recipe(_CARRIED, tuple((at, (at + 1) % _CARRIED) for at in range(_CARRIED)), rounds=2, chosen=chosen)
    model = prepared_or_unsupported(context, model_of(recipe))
    given, what = [chosen.packed(one) for one in values], f"execution of a loop that carries {_CARRIED} sums"
    found = many.computed(context, model, given, [SIZE] * _CARRIED, what)
    for number, (output, value) in enumerate(zip(found, recipe.expected(list(values)), strict=True)):
        chosen.check(output, value, f"output {number}, {what}", recipe.additions)


@cases.case("pools.of_a_request", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002", "NNHAL-BURST-009")
def of_a_request(context: CaseContext) -> None:
    """By each way to execute, each of 80 inputs and 40 outputs lies in a pool of its own."""
    values, chosen = many.pairs(80), addition.supported(context)
    model = BufferFixture(context, chosen).prepare(40)
    for executor in executors(context.version):
        with context.configuration(executor), context.short_lived():
            fixture = BufferFixture(context, chosen, executor)
            given = [fixture.pool(chosen.packed(one)) for one in values]
            results = [fixture.pool() for _ in range(40)]
            fixture.succeeds(model, given, results, f"{executor} execution with 120 pools")
            for number, pool in enumerate(results):
                total = addition.plus(values[2 * number], values[2 * number + 1])
                chosen.check(bytes(pool.read(0, SIZE)), total, f"output {number} of 40")


@cases.case("reusable.alive", "NNHAL-EXECUTE-014", since=Version.FL8)
def reusable_alive(context: CaseContext) -> None:
    """Each of 130 reusable executions of a model has a place of its own; a device may have no room for so many."""
    chosen, values = addition.supported(context), many.pairs(_REUSABLE)
    model, pool = chosen.prepared(context), context.pool(_REUSABLE * POOL)

    def make(number: int) -> Execution:
        return model.create_reusable_execution(addition.request(pool.memory, start=number * POOL), ExecutionConfig())

    made = _as_many(context, _REUSABLE, make)
    for number, execution in reversed(list(enumerate(made))):
        chosen.put(pool, values[number], start=number * POOL)
        execution.execute_synchronously(context.version.unavailable_time)
        total = addition.plus(addition.A, values[number])
        chosen.check(addition.result(pool, number * POOL), total, f"reusable execution {number} of {len(made)}")


@cases.case("bursts.names", "NNHAL-BURST-017", "NNHAL-BURST-009", since=Version.V1_2)
def names(context: CaseContext) -> None:
    """A burst knows 130 pools by their names, and finds each again."""
    chosen, values = addition.supported(context), many.pairs(_NAMES)
    burst, pools = Burst(context, chosen.prepared(context)), [context.pool(POOL) for _ in values]
    for turn in range(2):
        for name, pool in enumerate(pools):
            second = values[name - turn]
            chosen.put(pool, second)
            execution = burst.execute(addition.request(pool.memory), [name])
            what = f"burst execution by name {name}, turn {turn}"
            checks.status(execution.status, {ErrorStatus.NONE}, what)
            chosen.check(addition.result(pool), addition.plus(addition.A, second), what)


@cases.case("buffers.alive", "NNHAL-MEMDOMAIN-004", "NNHAL-MEMDOMAIN-023", since=Version.V1_3)
def buffers_alive(context: CaseContext) -> None:
    """Each of 1040 buffers that live has its own token, and of 260 its content; a device may have room for less."""
    fixture, values = BufferFixture(context, addition.supported(context)), many.pairs(_BEYOND_A_BYTE)
    model, zero, result = fixture.prepare(), fixture.pool(fixture.chosen.packed((0.0, 0.0))), fixture.pool()
    first, wanted = fixture.allocate(model, inputs=(0,)), Allocation((model,), inputs=((0, 0),))
    living = [first, *_as_many(context, _TOKENS - 1, lambda _: wanted.ask(fixture.device), had=1)]
    tokens = {made.token for made in living}
    checks.equal(len(tokens), len(living), "number of tokens of buffers that live")
    for made, value in zip(living, values, strict=False):
        fixture.fill(made, value)
    for number, (made, value) in enumerate(zip(living, values, strict=False)):
        fixture.succeeds(model, (made, zero), (result,), f"execution on buffer {number} of {len(living)}")
        fixture.chosen.check(bytes(result.read(0, SIZE)), value, f"content of buffer {number} of {len(living)}")


@cases.case("buffers.roles", "NNHAL-MEMDOMAIN-003", "NNHAL-MEMDOMAIN-026", since=Version.V1_3)
def buffers_roles(context: CaseContext) -> None:
    """A buffer that was allocated for each of 80 inputs is every one of them."""
    fixture, value = BufferFixture(context, addition.supported(context)), (1.5, -2.0)
    model = fixture.prepare(40)
    made = fixture.allocate(model, inputs=range(80))
    fixture.fill(made, value)
    results = [fixture.pool() for _ in range(40)]
    fixture.succeeds(model, [made] * 80, results, "execution with one buffer as 80 inputs")
    for number, result in enumerate(results):
        fixture.chosen.check(bytes(result.read(0, SIZE)), addition.plus(value, value), f"output {number} of 40")


@cases.case("buffers.large", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-022", since=Version.V1_3)
def buffers_large(context: CaseContext) -> None:
    """A buffer of a mebibyte and a half is copied in, read by an execution, and copied out to its last byte."""
    fixture = BufferFixture(context, addition.supported(context))
    pieces = _LARGE // SIZE
    data = b"".join(map(fixture.chosen.packed, many.pairs(120))) * (pieces // 120 + 1)
    data = data[:_LARGE]
    model = fixture.prepare(dimensions=(pieces * fixture.elements,))
    made, written = fixture.allocate(model, inputs=(0,)), fixture.allocate(model, outputs=(0,))
    checks.status(fixture.copy_from(made, data), {ErrorStatus.NONE}, "copyFrom of a large buffer")
    fixture.succeeds(model, (made, fixture.pool(_zeros(fixture))), (written,), "execution on a large buffer")
    with checks.about("NNHAL-MEMDOMAIN-022"):
        _check_large(fixture, fixture.content(made, _LARGE), data, "content of a large buffer that was copied in")
    _check_large(fixture, fixture.content(written, _LARGE), data, "content of a large buffer that was computed")


def _zeros(fixture: BufferFixture) -> bytes:
    return fixture.chosen.packed((0.0, 0.0)) * (_LARGE // SIZE)


def _check_large(fixture: BufferFixture, found: bytes, data: bytes, what: str) -> None:
    """Fail at the first piece that differs, where one does."""
    if found != data:
        for at in range(0, _LARGE, SIZE):
            expected = fixture.chosen.unpacked(data[at : at + SIZE])
            fixture.chosen.check(found[at : at + SIZE], expected[:2], f"{what}, byte {at}")


@cases.case("fences.waiting", "NNHAL-FENCED-005", since=Version.V1_3)
def waiting(context: CaseContext) -> None:
    """Each of 70 executions waits for its own fence, and gives its own sum; a device may wait in the first call."""
    fixture, values = FencedFixture(context), many.pairs(_WAITING)
    launched: list[tuple[Sum, Launched]] = []
    for value in values:
        fence, total = context.fence(), fixture.sum(addition.A, value)
        launched.append((total, total.launch(fence, settle=fence.signal)))
        if not launched[-1][1].is_waiting:
            break
    for total, one in launched[::10]:
        total.check_nothing_happens(one)
    for (total, one), value in zip(launched, values, strict=False):
        one.settle()
        total.succeeds(one, addition.plus(addition.A, value))


def _as_many(context: CaseContext, number: int, make: Callable[[int], Made], *, had: int = 0) -> list[Made]:
    """Make so many, or as many as there is room for, at least one. had: that there are already."""
    made: list[Made] = []
    for at in range(number):
        try:
            made.append(make(at))
        except ServiceError as error:
            checks.that(bool(made or had), f"the first of {number}: {error}")
            if not is_too_much(context, error.status):
                checks.status(error.status, busy(context.version), f"number {at + had} of {number + had}")
            break
    return made
