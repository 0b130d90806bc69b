"""IF and WHILE beside what they compute: which graphs are supported, and the timeouts of loops."""

from __future__ import annotations

import itertools
import struct
import time

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import (
    NO_DEADLINE,
    NO_LOOP_TIMEOUT,
    Execution,
    ExecutionRecorder,
)
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import (
    DEFAULT_LOOP_TIMEOUT_DURATION_NS,
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    MISSED,
    ErrorStatus,
    OperandType,
    OperationType,
)
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.deadlines import MILLISECOND
from npu_conformance.vts.lib.loops import expect_aborted
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_models import (
    BRANCHES,
    EXTENSION,
    LOOP,
    MAPPING,
    TEMPORARY,
    constant,
    graph,
    reference,
    with_operand,
    within,
)
from npu_conformance.vts.lib.sums import prepared_or_unsupported

cases = CaseGroup("vts.control_flow", group=Group.EXECUTION)

_DEFAULT_SECONDS = DEFAULT_LOOP_TIMEOUT_DURATION_NS / 1e9
_SIZE, _POOL, _PLACES = 4, 64, (0, 16, 32)
_FOR_EVER = (-1.0, 0.0)
"""a and b for WHILE a < b: a += b."""
_ONE_ROUND = (0.0, 1.0)
_MANY_ROUNDS = (-399.0, 1.0)
_TRIES, _MOST_TRIES = 3, 20
_APART, _ADDITIONS = 16, 300
_OF_TWO_LOOPS = (0.0, 1.0, 0.0, 2.0)
"""a and b of the first loop, what is added to its output, b of the second: two rounds, one in each, and 1 + 2."""
_UNDER_WAY_NS = 250 * MILLISECOND
"""How long a loop goes on while something else is asked."""


@cases.case(
    "WHILE.endless_is_aborted", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-015", "NNHAL-ERROR-003", since=Version.V1_3
)
def endless_is_aborted(context: CaseContext) -> None:
    """A loop that never ends is aborted after its timeout of a millisecond, not after the default one."""
    prepared_model = addition.prepared(context, LOOP)
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            started = time.monotonic()
            execution, _ = _run(context, prepared_model, _FOR_EVER, MILLISECOND, executor)
            elapsed = time.monotonic() - started
            expect_aborted(execution)
            latest = _DEFAULT_SECONDS * max(context.manifest.time_scale, 1.0)
            slow = f"aborted after {elapsed:.3f} s: expected less than the default {latest:g} s"
            with checks.about("NNHAL-CONTROLFLOW-015"):
                checks.that(elapsed < latest, slow)
            _ended(context, prepared_model, NO_LOOP_TIMEOUT, _MANY_ROUNDS)


@cases.case("WHILE.timeout_of_zero", "NNHAL-CONTROLFLOW-011", since=Version.V1_3)
def timeout_of_zero(context: CaseContext) -> None:
    """A timeout of 0 is a timeout like others, not the default one."""
    prepared_model, started = addition.prepared(context, LOOP), time.monotonic()
    execution, _ = _run(context, prepared_model, _FOR_EVER, 0)
    elapsed = time.monotonic() - started
    expect_aborted(execution)
    latest = _DEFAULT_SECONDS * max(context.manifest.time_scale, 1.0)
    checks.that(elapsed < latest, f"aborted after {elapsed:.3f} s: expected less than the default {latest:g} s")


@cases.case("WHILE.default_timeout", "NNHAL-CONTROLFLOW-012", since=Version.V1_3)
def default_timeout(context: CaseContext) -> None:
    """Without a timeout of its own, an endless loop gets two seconds, and is aborted then."""
    prepared_model, started = addition.prepared(context, LOOP), time.monotonic()
    execution, _ = _run(context, prepared_model, _FOR_EVER, NO_LOOP_TIMEOUT)
    elapsed = time.monotonic() - started
    expect_aborted(execution)
    checks.that(elapsed >= _DEFAULT_SECONDS, f"aborted after {elapsed:.3f} s: expected {_DEFAULT_SECONDS:g} s")


@cases.case("WHILE.longer_timeout", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-015", since=Version.V1_3)
def longer_timeout(context: CaseContext) -> None:
    """An endless loop whose timeout is longer than the default one is aborted after its own, and not before."""
    prepared_model, started = addition.prepared(context, LOOP), time.monotonic()
    timeout = DEFAULT_LOOP_TIMEOUT_DURATION_NS + 200 * MILLISECOND
    execution, _ = _run(context, prepared_model, _FOR_EVER, timeout)
    elapsed = time.monotonic() - started
    expect_aborted(execution)
    checks.that(elapsed >= timeout / 1e9, f"aborted after {elapsed:.3f} s: expected {timeout / 1e9:g} s")


@cases.case("WHILE.one_after_the_other", "NNHAL-CONTROLFLOW-011", "NNHAL-EXECUTE-001", since=Version.V1_3)
def one_after_the_other(context: CaseContext) -> None:
    """Each of two loops in one model has the timeout for itself; a device that aborts them every time gets a warning.

    They have a round each, and between them lie additions that take several times the timeout: what is counted from the
    first loop on is over before the second one begins.
    """
    prepared_model = prepared_or_unsupported(context, _two_loops())
    whole = min(_length_ns(context, prepared_model) for _ in range(_TRIES))
    for _ in range(_MOST_TRIES):
        timeout = whole // 4
        are_in_time = _ends_in_time(context, prepared_model, timeout)
        whole = min(whole, *(_length_ns(context, prepared_model) for _ in range(2)))
        if are_in_time and timeout <= whole // 2:  # else the device was slow when the timeout was chosen
            return
    if any(_ends_in_time(context, addition.prepared(context, LOOP), whole // 4, _ONE_ROUND) for _ in range(_TRIES)):
        context.warn_quality("two loops that end in time one by one are aborted where they are in one model")


def _length_ns(context: CaseContext, prepared_model: PreparedModel) -> int:
    """How long an execution takes."""
    started = time.monotonic_ns()
    if not _ends_in_time(context, prepared_model, MAXIMUM_LOOP_TIMEOUT_DURATION_NS):
        raise NotApplicable("loops of one round are aborted after the longest timeout")
    return time.monotonic_ns() - started


def _ends_in_time(
    context: CaseContext, prepared_model: PreparedModel, timeout: int, values: tuple[float, ...] = _OF_TWO_LOOPS
) -> bool:
    """Execute a model of loops on these inputs: whether no loop was aborted."""
    pool = context.pool((len(values) + 1) * _APART)
    for number, value in enumerate(values):
        pool.write(number * _APART, struct.pack("<f", value))
    places = (DataLocation(0, number * _APART, _SIZE) for number in range(len(values) + 1))
    *inputs, output = (RequestArgument(location=place) for place in places)
    request = Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))
    execution = execute(context, prepared_model, request, measure=False, loop_timeout=timeout)
    checks.status(execution.status, {ErrorStatus.NONE, *MISSED}, "execution of loops of one round")
    if execution.status == ErrorStatus.NONE:
        expected = sum(values)  # each loop adds its b once
        found = struct.unpack("<f", pool.read(len(values) * _APART, _SIZE))
        checks.equal(found, (expected,), "output of loops of one round")
    return execution.status == ErrorStatus.NONE


def _two_loops() -> Model:
    """LOOP twice: the second one begins with what many additions of an input have made of the first one's output."""
    main = LOOP.main
    carried = replace(main.operands[4], lifetime=TEMPORARY)
    operands = [
        *main.operands[:4],
        carried,
        *[main.operands[3]] * 2,
        main.operands[4],
        constant(OperandType.INT32, [], 0, 4),
    ]
    first = len(operands)
    places = [4, *range(first, first + _ADDITIONS)]
    (loop,) = main.operations
    additions = [Operation(OperationType.ADD, (one, 5, 8), (other,)) for one, other in itertools.pairwise(places)]
    second = replace(loop, inputs=(0, 1, places[-1], 6), outputs=(7,))
    return replace(LOOP, main=graph([*operands, *[carried] * _ADDITIONS], [loop, *additions, second]))


@cases.case(
    "WHILE.beside_a_packet",
    "NNHAL-EXECUTE-007",
    "NNHAL-BURST-012",
    "NNHAL-EXECUTE-003",
    since=Version.V1_3,
    until=HIDL_LAST,
)
def beside_a_packet(context: CaseContext) -> None:
    """A packet of a burst is answered though an asynchronous execution of its model is under way, in a long loop."""
    prepared_model = addition.prepared(context, LOOP)
    burst, packet = Burst(context, prepared_model), _filled(context, _ONE_ROUND)
    _answered(burst, packet, "before an asynchronous execution")
    endless = _request(_filled(context, _FOR_EVER), _SIZE)
    for _ in range(_TRIES):
        recorder = ExecutionRecorder()
        prepared_model.execute(endless, False, NO_DEADLINE, _UNDER_WAY_NS, recorder)
        is_under_way = not recorder.answers
        _answered(burst, packet, "beside an asynchronous execution")
        context.subject.wait_until(lambda: bool(recorder.answers), _DEFAULT_SECONDS * context.manifest.time_scale)  # noqa: B023
        checks.equal(len(recorder.answers), 1, "number of notifications of the execution beside it")
        expect_aborted(recorder.answers[0])
        if is_under_way:
            return


def _answered(burst: Burst, packet: Pool, when: str) -> None:
    packet.write(_PLACES[-1], bytes(_SIZE))
    answer = burst.execute(_request(packet, _SIZE))
    checks.status(answer.status, {ErrorStatus.NONE}, f"packet {when}")
    (output,) = struct.unpack("<f", packet.read(_PLACES[-1], _SIZE))
    checks.equal(output, 1.0, f"output of a loop of one round, {when}")


@cases.case("WHILE.ends_by_itself", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-013", since=Version.V1_3)
def ends_by_itself(context: CaseContext) -> None:
    """A loop that ends is not cut short: neither without a timeout nor with the longest one."""
    prepared_model = addition.prepared(context, LOOP)
    for name, timeout in {"none": NO_LOOP_TIMEOUT, "maximum": MAXIMUM_LOOP_TIMEOUT_DURATION_NS}.items():
        rule = "NNHAL-CONTROLFLOW-012" if timeout == NO_LOOP_TIMEOUT else "NNHAL-CONTROLFLOW-013"
        with context.configuration(name), checks.about(rule):
            _ended(context, prepared_model, timeout)


@cases.case("IF.operations_of_branches", "NNHAL-SUPPORT-007", "NNHAL-PREPARE-004", since=Version.V1_3)
def operations_of_branches(context: CaseContext) -> None:
    """IF is not supported where a branch has an operation that the device does not support."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            model = _with_foreign_branch(number)
            checks.equal(context.supported_operations(model), (False,), f"support of IF with a foreign {name} branch")
            preparation = context.prepare(model)
            is_rejected = preparation.status != ErrorStatus.NONE and preparation.prepared_model is None
            checks.that(
                is_rejected, "prepareModel of an operation that is not supported: expected a failure, found NONE"
            )


@cases.case("IF.operations_of_nested_branches", "NNHAL-SUPPORT-007", since=Version.V1_3)
def operations_of_nested_branches(context: CaseContext) -> None:
    """IF is not supported where a branch has another IF with an operation that the device does not support."""
    for outer, inner in itertools.product(range(2), repeat=2):
        with context.configuration("_in_".join(("then", "else")[number] for number in (inner, outer))):
            model = _nested(_with_foreign_branch(inner), outer)
            checks.equal(context.supported_operations(model), (False,), "support of IF around a foreign operation")


@cases.case("IF.operations_of_shared_branches", "NNHAL-SUPPORT-007", "NNHAL-CONTROLFLOW-003", since=Version.V1_3)
def operations_of_shared_branches(context: CaseContext) -> None:
    """Neither of two IFs is supported that have a branch in common with an operation that is not supported."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            model = _with_two_ifs(_with_foreign_branch(number))
            what = f"support of two IFs with one foreign {name} branch"
            checks.equal(context.supported_operations(model), (False, False), what)


@cases.case("IF.branches_of_the_next_model", "NNHAL-CONTROLFLOW-001", "NNHAL-SUPPORT-003", since=Version.V1_3)
def branches_of_the_next_model(context: CaseContext) -> None:
    """A model whose main graph is that of the one before is judged by its own branches: the broken one is rejected."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            context.supported_operations(BRANCHES)
            context.prepare(BRANCHES)
            expect_rejected_at_prepare(context, within(BRANCHES, number, 1, dimensions=(-2,)))


@cases.case("IF.support_of_another_model", "NNHAL-SUPPORT-005", "NNHAL-PREPARE-004", since=Version.V1_3)
def support_of_another_model(context: CaseContext) -> None:
    """A supported model is prepared, although the last model that was asked about has its main graph and is not."""
    if not all(context.supported_operations(BRANCHES)):
        raise NotSupported("IF of ADD and RELU is not supported")
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            context.supported_operations(_with_foreign_branch(number))
            model_of(context.prepare(BRANCHES), "prepareModel of a supported IF, notified")


@cases.case("IF.output_of_another_size", "NNHAL-CONTROLFLOW-005", since=Version.V1_3)
def output_of_another_size(context: CaseContext) -> None:
    """An execution fails where a branch gives another size than the one that is declared for the output."""
    status = _status_with_open_branches(context, 2)
    if status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute branches that leave sizes open")
    checks.status(status, {ErrorStatus.NONE}, "execution of IF that declares the size that its branch gives")
    status = _status_with_open_branches(context, 3)
    what = "execution of IF that declares 3 elements, with a branch that gives 2: expected a failure, found NONE"
    checks.that(status != ErrorStatus.NONE, what)


def _status_with_open_branches(context: CaseContext, size: int) -> int:
    """Execute IF of two elements whose output is declared with this size; what it ends with."""
    prepared_model, pool = addition.prepared(context, _with_open_branches(size)), context.pool(_POOL)
    pool.write(0, bytes([1]))
    condition, data, output = (
        RequestArgument(location=DataLocation(0, offset, length))
        for offset, length in ((0, 1), (16, 8), (32, 4 * size))
    )
    request = Request((condition, data), (output,), (RequestMemoryPool(pool=pool.memory),))
    return execute(context, prepared_model, request, measure=False).status


@cases.case("timeout.below_none", "NNHAL-CONTROLFLOW-014", since=Version.FL5)
def below_none(context: CaseContext) -> None:
    """A timeout below -1 is rejected with INVALID_ARGUMENT, even in a model without a loop."""
    _expect_rejected(context, -2)


@cases.case("timeout.above_maximum", "NNHAL-CONTROLFLOW-013", since=Version.FL5)
def above_maximum(context: CaseContext) -> None:
    """A timeout above 15 seconds is rejected with INVALID_ARGUMENT, even in a model without a loop."""
    _expect_rejected(context, MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1)


def _with_foreign_branch(number: int) -> Model:
    """IF with an operation of an extension that no device has in one of its branches."""
    branches = list(BRANCHES.referenced)
    operation = replace(branches[number].operations[0], type=EXTENSION)
    branches[number] = replace(branches[number], operations=(operation,))
    return replace(BRANCHES, referenced=tuple(branches), extension_name_to_prefix=MAPPING)


def _with_two_ifs(model: Model) -> Model:
    """The IF of a model twice, side by side, over the same branches."""
    operands = model.main.operands
    (one,) = model.main.operations
    return replace(
        model,
        main=graph([*operands, *operands[3:]], [one, replace(one, inputs=(0, 1, 2, 5), outputs=(6,))]),
    )


def _nested(model: Model, number: int) -> Model:
    """The IF of a model in one branch of another IF, whose own condition is an input of both branches."""
    inner = model.main
    other = graph([*inner.operands[:1], *inner.operands[3:]], [Operation(OperationType.RELU, (1,), (2,))])
    branches = (inner, other) if number == 0 else (other, inner)
    operands = [inner.operands[0], reference(2), reference(3), *inner.operands[3:]]
    outer = graph(operands, [Operation(OperationType.IF, (0, 1, 2, 0, 3), (4,))])
    return replace(model, main=outer, referenced=(*model.referenced, *branches))


def _with_open_branches(size: int) -> Model:
    """IF of two elements whose branches leave the size open, with an output of another size."""
    model = with_operand(BRANCHES, 4, dimensions=(size,))
    for branch, operand in itertools.product(range(2), repeat=2):
        model = within(model, branch, operand, dimensions=(0,))
    return model


def _expect_rejected(context: CaseContext, timeout: int) -> None:
    prepared_model, pool = addition.supported(context).prepared(context), context.pool(_POOL)
    request = _request(pool, addition.SIZE)
    execution = execute(context, prepared_model, request, measure=False, loop_timeout=timeout)
    checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, f"execution with a loop timeout of {timeout} ns")


def _run(
    context: CaseContext, prepared_model: PreparedModel, values: tuple[float, float], timeout: int, executor: str = ""
) -> tuple[Execution, float]:
    """Execute the loop; returns what came back, and the output."""
    pool = _filled(context, values)
    request = _request(pool, _SIZE)
    execution = execute(context, prepared_model, request, measure=False, executor=executor, loop_timeout=timeout)
    (output,) = struct.unpack("<f", pool.read(_PLACES[-1], _SIZE))
    return execution, output


def _filled(context: CaseContext, values: tuple[float, float]) -> Pool:
    """A pool with both inputs of the loop."""
    pool = context.pool(_POOL)
    for offset, value in zip(_PLACES, values, strict=False):
        pool.write(offset, struct.pack("<f", value))
    return pool


def _ended(
    context: CaseContext, prepared_model: PreparedModel, timeout: int, values: tuple[float, float] = _ONE_ROUND
) -> None:
    execution, output = _run(context, prepared_model, values, timeout)
    what = f"a loop of {values[1] - values[0]:g} rounds"
    checks.status(execution.status, {ErrorStatus.NONE}, f"execution of {what}")
    checks.equal(output, 1.0, f"output of {what}")


def _request(pool: Pool, size: int) -> Request:
    """Two inputs and an output of `size` bytes each."""
    *inputs, output = (RequestArgument(location=DataLocation(0, offset, size)) for offset in _PLACES)
    return Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))
