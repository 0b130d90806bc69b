"""The timeouts of loops: of one, of two, of one in another, and what is asked meanwhile."""

from __future__ import annotations

import itertools
import struct
import time

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, ExecutionRecorder
from npu_conformance.harness.run.executing.executors import bind, execute, executors
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
    NO_DEADLINE,
    NO_LOOP_TIMEOUT,
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.deadlines import MILLISECOND, deadline
from npu_conformance.vts.lib.loops import expect_aborted, expect_sooner_than_default
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.rejection import asked_by_text_alone
from npu_conformance.vts.lib.structure_models import (
    INPUT,
    LOOP,
    OUTPUT,
    TEMPORARY,
    constant,
    graph,
    reference,
    tensor,
)

cases = CaseGroup("vts.control_flow", group=Group.EXECUTION)

_DEFAULT_SECONDS = DEFAULT_LOOP_TIMEOUT_DURATION_NS / 1e9
_SIZE, _POOL, _PLACES = 4, 64, (0, 16, 32)
_FOR_EVER = (-1.0, 0.0)
"""a and b for WHILE a < b: a += b."""
_ONE_ROUND = (0.0, 1.0)
_MANY_ROUNDS = (-399.0, 1.0)
_TRIES, _MOST_TRIES, _PAIRS = 3, 20, 5
_APART, _ADDITIONS = 16, 300
_OF_TWO_LOOPS = (0.0, 1.0, 0.0, 2.0)
"""a and b of the first loop, what is added to its output, b of the second: two rounds, one in each, and 1 + 2."""
_IN_A_LOOP = 50 * MILLISECOND
"""A timeout that a loop of one round keeps."""
_UNDER_WAY_NS = 250 * MILLISECOND
"""How long a loop goes on while something else is asked."""


@cases.case(
    "WHILE.endless_is_aborted", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-015", "NNHAL-ERROR-003", since=Version.V1_3
)
def endless_is_aborted(context: CaseContext) -> None:
    """A loop that never ends is aborted after its timeout of a millisecond, not after the default one."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            started = time.monotonic()
            execution, _ = _run(context, prepared_model, _FOR_EVER, MILLISECOND, executor)
            elapsed = time.monotonic() - started
            expect_aborted(execution)
            with checks.about("NNHAL-CONTROLFLOW-015"):
                expect_sooner_than_default(context, elapsed)
            with checks.about("NNHAL-CONTROLFLOW-012"):
                _ended(context, prepared_model, NO_LOOP_TIMEOUT, _MANY_ROUNDS)


@cases.case("WHILE.abort_is_final", "NNHAL-EXECUTE-006", "NNHAL-CONTROLFLOW-011", since=Version.V1_3)
def abort_is_final(context: CaseContext) -> None:
    """A loop that its timeout has ended writes no more: its client has other things in that memory by then.

    Behind a fence in error that is a quality warning, since documents say it of a signal alone (NNHAL-FENCED-007).
    """
    prepared_model, started = prepared_or_unsupported(context, LOOP), time.monotonic()
    _ended(context, prepared_model, MAXIMUM_LOOP_TIMEOUT_DURATION_NS, _MANY_ROUNDS)
    seconds, untouched = time.monotonic() - started, bytes([FILL]) * _SIZE
    for executor in executors(context.version, loop_timeout=True):
        for part in (0.0, 0.25):
            with context.configuration(f"{executor}.{part:g}"):
                pool, options = _filled(context, _MANY_ROUNDS), ExecutionOptions(loop_timeout=int(part * seconds * 1e9))
                execution = bind(context, prepared_model, _request(pool, _SIZE), options, executor)()
                if execution.status != ErrorStatus.NONE:
                    expect_aborted(execution)
                    pool.write(_PLACES[-1], untouched)
                    context.subject.wait_until(lambda: False, 2 * seconds)
                    with asked_by_text_alone(context, when="fenced" in executor), checks.about("NNHAL-EXECUTE-006"):
                        checks.equal(bytes(pool.read(_PLACES[-1], _SIZE)), untouched, "output behind an aborted loop")


@cases.case("WHILE.endless_around_another", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-015", since=Version.V1_3)
def endless_around_another(context: CaseContext) -> None:
    """A loop that never ends is aborted though each of its rounds has a loop of its own, which begins and ends in time.

    Where it is not, a deadline ends it two seconds later.
    """
    prepared_model = prepared_or_unsupported(context, _nested())
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            seconds = min(_seconds_until_aborted(context, prepared_model, executor) for _ in range(_TRIES))
            checks.that(seconds < 1.0, f"aborted after {seconds:.3f} s: expected {_IN_A_LOOP / 1e9:g} s")


def _seconds_until_aborted(context: CaseContext, prepared_model: PreparedModel, executor: str) -> float:
    started, end = time.monotonic(), deadline("late", context.version)
    request = _request(_filled(context, _FOR_EVER), _SIZE)
    options = ExecutionOptions(loop_timeout=_IN_A_LOOP, deadline=end)
    expect_aborted(bind(context, prepared_model, request, options, executor)())
    return time.monotonic() - started


def _nested() -> Model:
    """LOOP whose body begins with a loop of one round, the opposite of which follows: it changes nothing."""
    operands = [
        *[tensor(lifetime=INPUT, dimensions=(1,))] * 2,
        reference(0),
        reference(2),
        *[constant(OperandType.TENSOR_FLOAT32, [1], offset, 4) for offset in (4, 8)],
        constant(OperandType.INT32, [], 0, 4),
        tensor(dimensions=(1,)),
        tensor(lifetime=OUTPUT, dimensions=(1,)),
    ]
    body = graph(
        operands,
        [Operation(OperationType.WHILE, (2, 3, 4, 5), (7,)), Operation(OperationType.MUL, (0, 7, 6), (8,))],
    )
    values = bytes(4) + struct.pack("<2f", 0.0, 1.0)
    return replace(LOOP, referenced=(LOOP.referenced[0], body, LOOP.referenced[1]), operand_values=values)


@cases.case("WHILE.timeout_of_zero", "NNHAL-CONTROLFLOW-011", since=Version.V1_3)
def timeout_of_zero(context: CaseContext) -> None:
    """A timeout of 0 is a timeout like others, not the default one."""
    prepared_model, started = prepared_or_unsupported(context, LOOP), time.monotonic()
    execution, _ = _run(context, prepared_model, _FOR_EVER, 0)
    elapsed = time.monotonic() - started
    expect_aborted(execution)
    expect_sooner_than_default(context, elapsed)


@cases.case("WHILE.default_timeout", "NNHAL-CONTROLFLOW-012", since=Version.V1_3)
def default_timeout(context: CaseContext) -> None:
    """Without a timeout of its own, an endless loop gets two seconds, and is aborted then."""
    prepared_model, started = prepared_or_unsupported(context, LOOP), time.monotonic()
    execution, _ = _run(context, prepared_model, _FOR_EVER, NO_LOOP_TIMEOUT)
    elapsed = time.monotonic() - started
    expect_aborted(execution)
    checks.that(elapsed >= _DEFAULT_SECONDS, f"aborted after {elapsed:.3f} s: expected {_DEFAULT_SECONDS:g} s")


@cases.case("WHILE.longer_timeout", "NNHAL-CONTROLFLOW-011", "NNHAL-CONTROLFLOW-015", since=Version.V1_3)
def longer_timeout(context: CaseContext) -> None:
    """An endless loop whose timeout is longer than the default one is aborted after its own, and not before."""
    prepared_model, started = prepared_or_unsupported(context, LOOP), time.monotonic()
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
    single = prepared_or_unsupported(context, LOOP)
    if any(_ends_in_time(context, single, whole // 4, _ONE_ROUND) for _ in range(_TRIES)):
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
    if _in_time(execution):
        expected = sum(values)  # each loop adds its b once
        found = struct.unpack("<f", pool.read(len(values) * _APART, _SIZE))
        with checks.about("NNHAL-EXECUTE-001"):
            checks.equal(found, (expected,), "output of loops of one round")
        return True
    return False


@cases.case("WHILE.executed_again_later", "NNHAL-CONTROLFLOW-011", "NNHAL-EXECUTE-014", since=Version.V1_3)
def executed_again_later(context: CaseContext) -> None:
    """A loop has its timeout for itself in each execution, also in one that is executed again when the first is over.

    A busy device may abort a loop of one round now and then, but not the second one every time.
    """
    prepared_model, started = prepared_or_unsupported(context, LOOP), time.monotonic_ns()
    _ended(context, prepared_model, MAXIMUM_LOOP_TIMEOUT_DURATION_NS)
    timeout = max(_IN_A_LOOP, 4 * (time.monotonic_ns() - started))
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            pairs = (_both_in_time(context, prepared_model, timeout, executor) for _ in range(_PAIRS))
            checks.that(any(pairs), f"the second loop is aborted {_PAIRS} times of {_PAIRS}, and never the first one")


def _both_in_time(context: CaseContext, prepared_model: PreparedModel, timeout: int, executor: str) -> bool:
    """Execute twice, the timeout apart; whether the second loop was not aborted, where the first one was not."""
    options = ExecutionOptions(loop_timeout=timeout)
    run = bind(context, prepared_model, _request(_filled(context, _ONE_ROUND), _SIZE), options, executor)
    for _ in range(_MOST_TRIES):
        if _in_time(run()):
            context.subject.wait_until(lambda: False, timeout / 1e9)
            return _in_time(run())
    raise NotApplicable(f"a loop of one round is aborted {_MOST_TRIES} times after {timeout} ns")


def _in_time(execution: Execution) -> bool:
    checks.status(execution.status, {ErrorStatus.NONE, *MISSED}, "execution of a loop of one round")
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
    prepared_model = prepared_or_unsupported(context, LOOP)
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
    prepared_model = prepared_or_unsupported(context, LOOP)
    for name, timeout in {"none": NO_LOOP_TIMEOUT, "maximum": MAXIMUM_LOOP_TIMEOUT_DURATION_NS}.items():
        rule = "NNHAL-CONTROLFLOW-012" if timeout == NO_LOOP_TIMEOUT else "NNHAL-CONTROLFLOW-013"
        with context.configuration(name), checks.about(rule):
            _ended(context, prepared_model, timeout)


@cases.case("timeout.below_none", "NNHAL-CONTROLFLOW-014", since=Version.FL5)
def below_none(context: CaseContext) -> None:
    """A timeout below -1 is rejected with INVALID_ARGUMENT, even in a model without a loop."""
    _expect_rejected(context, -2)


@cases.case("timeout.above_maximum", "NNHAL-CONTROLFLOW-013", since=Version.FL5)
def above_maximum(context: CaseContext) -> None:
    """A timeout above 15 seconds is rejected with INVALID_ARGUMENT, even in a model without a loop."""
    _expect_rejected(context, MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1)


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
