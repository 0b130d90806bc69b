"""Bursts are opened and released, and reject the requests that any other form of execution rejects."""

from __future__ import annotations

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.burst_channel import CAPACITY, SlotTable, configured, queue_memory
from npu_conformance.harness.run.executing.execution import (
    ExecutionOptions,
    in_pools,
    request_of,
    shape_rules,
    timing_rules,
)
from npu_conformance.specs.errors import NotVisible, ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import BurstCallback
from npu_conformance.specs.neuralnetworks.types import QueueDescriptor
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.request_edits import EDITS
from npu_conformance.vts.lib.support import supports

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_ANY_SIZE = 2**32 - 1


@cases.case("configure.succeeds", "NNHAL-BURST-001", since=Version.V1_2, scope=Scope.SMOKE)
def succeeds(context: CaseContext) -> None:
    """A prepared model opens a burst, and executes through it."""
    fixture = burst_fixture(context)
    checks.works(lambda: _open(context, fixture), "configureExecutionBurst")
    _executes(fixture, Burst(context, fixture.prepared_model), "execution through the burst")


def _open(context: CaseContext, fixture: BurstFixture) -> None:
    if context.version.is_aidl:
        checks.that(
            fixture.prepared_model.configure_execution_burst() is not None, "configureExecutionBurst: found null"
        )
        return
    (_, requests), (_, results) = (queue_memory(context, CAPACITY) for _ in range(2))
    configured(fixture.prepared_model, SlotTable(), requests, results)


@cases.case("configure.null_callback", "NNHAL-BURST-021", since=Version.V1_2, until=HIDL_LAST)
def null_callback(context: CaseContext) -> None:
    """A null callback is rejected; another burst opens afterwards."""
    fixture = burst_fixture(context)
    (_, requests), (_, results) = (queue_memory(context, CAPACITY) for _ in range(2))
    _expect_rejected(fixture, None, requests, results, "a null callback")
    _executes(fixture, Burst(context, fixture.prepared_model), "execution after the rejection")


@cases.case("configure.bad_queues", "NNHAL-BURST-021", "NNHAL-ROBUST-003", since=Version.V1_2, until=HIDL_LAST)
def bad_queues(context: CaseContext) -> None:
    """Queues without room, larger than their memory, or in memory that does not exist are rejected."""
    fixture = burst_fixture(context)
    _, good = queue_memory(context, CAPACITY)
    bad = {"no_room": QueueDescriptor(0, good.memory)}
    if good.memory is not None:
        bad["too_large"] = QueueDescriptor(CAPACITY + 1, good.memory)
        bad["far_too_large"] = QueueDescriptor(_ANY_SIZE, good.memory)
    for name, queue in bad.items():
        for place in ("requests", "results"):
            with context.configuration(f"{place}.{name}"):
                both = (queue, good) if place == "requests" else (good, queue)
                _expect_rejected(fixture, SlotTable(), *both, f"{place} of {queue.capacity} elements")


def _expect_rejected(
    fixture: BurstFixture,
    callback: BurstCallback | None,
    requests: QueueDescriptor,
    results: QueueDescriptor,
    what: str,
) -> None:
    try:
        configured(fixture.prepared_model, callback, requests, results)
    except NotVisible:
        raise
    except Unsupported as error:
        raise NotApplicable(f"the device opens no burst: {error}") from None
    except ServiceError as error:
        checks.that(error.status != ErrorStatus.NONE, f"configureExecutionBurst with {what}: an error of status NONE")
    else:
        checks.fail(f"configureExecutionBurst with {what}", "an error status", "success")


@cases.case("several.side_by_side", "NNHAL-BURST-017", "NNHAL-BURST-001", since=Version.V1_2)
def side_by_side(context: CaseContext) -> None:
    """Bursts of one prepared model know nothing of each other: one name means another memory in each."""
    fixture = burst_fixture(context)
    bursts = [(Burst(context, fixture.prepared_model), fixture.another_pool()) for _ in range(2)]
    for turn in range(3):
        for number, (burst, pool) in enumerate(bursts):
            first, second = PAIRS[turn], PAIRS[turn + 1 - number]
            fixture.fill(first, second, pool)
            execution = burst.execute(fixture.request(pool), (7,))
            fixture.succeeded(execution, plus(first, second), f"turn {turn} of burst {number}", pool)


@cases.case("several.release_in_one", "NNHAL-BURST-017", since=Version.V1_2)
def release_in_one(context: CaseContext) -> None:
    """Memory that one burst forgets is still known to another one of the same prepared model."""
    fixture = burst_fixture(context)
    first, second = Burst(context, fixture.prepared_model), Burst(context, fixture.prepared_model)
    for burst in (first, second):
        _executes(fixture, burst, "execution before the release")
    first.release(0)
    _executes(fixture, second, "execution of the burst that kept its memory")
    _executes(fixture, first, "execution of the burst that released its memory")


@cases.case("dropped.while_idle", "NNHAL-BURST-001", "NNHAL-ROBUST-003", since=Version.V1_2)
def dropped_while_idle(context: CaseContext) -> None:
    """Bursts that were used are dropped, one after the other; the prepared model executes as before."""
    fixture = burst_fixture(context)
    for turn in range(4):
        burst = Burst(context, fixture.prepared_model)
        _executes(fixture, burst, f"execution of burst {turn}")
        del burst
    _executes(fixture, Burst(context, fixture.prepared_model), "execution of a burst after others were dropped")


@cases.case("order.own_results", "NNHAL-BURST-017", "NNHAL-BURST-016", since=Version.V1_2)
def own_results(context: CaseContext) -> None:
    """Executions one after the other, whose contents change, each have their own result, also after rejected ones."""
    fixture = burst_fixture(context)
    burst = Burst(context, fixture.prepared_model)
    for turn in range(24):
        first, second = PAIRS[turn % 4], PAIRS[(turn // 4 + turn) % 4]
        fixture.fill(first, second)
        fixture.succeeded(
            burst.execute(fixture.request(), options=ExecutionOptions(measure=bool(turn % 2))),
            plus(first, second),
            f"execution {turn}",
        )
        if turn % 8 == 3:
            invalid = EDITS[0].apply(fixture.request(), fixture.chosen.elements)
            with checks.about("NNHAL-BURST-012"):
                checks.status(
                    burst.execute(invalid).status, {ErrorStatus.INVALID_ARGUMENT}, "an invalid request between"
                )


@cases.case("request.invalid", "NNHAL-BURST-012", since=Version.V1_2, scope=Scope.SMOKE)
def invalid_request(context: CaseContext) -> None:
    """Every invalid request is rejected with INVALID_ARGUMENT, and the burst goes on.

    AOSP's VTS tries the removed arguments; the others are what the interface text says of every form of execution.
    """
    fixture = burst_fixture(context)
    burst = Burst(context, fixture.prepared_model)
    for invalid in EDITS:
        if invalid.since <= context.version:
            with context.configuration(invalid.name, requirements=invalid.requirements):
                context.about("NNHAL-BURST-012", *invalid.requirements)
                request = invalid.apply(fixture.request(), fixture.chosen.elements)
                execution = burst.execute(request, options=ExecutionOptions(measure=True))
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, f"a request with {invalid.name}")
                checks.equal(execution.output_shapes, (), "output shapes of the rejected request")
                timing_rules(context, execution, measured=True)
                _executes(fixture, burst, "execution after the rejection")


@cases.case("request.output_too_small", "NNHAL-BURST-003", "NNHAL-SHAPE-004", since=Version.V1_2)
def output_too_small(context: CaseContext) -> None:
    """An output that does not fit is OUTPUT_INSUFFICIENT_SIZE with shapes, or a failure where that is declined."""
    vector = vectors.load("ADD", "float32_none_same")
    if not supports(context, vector):
        raise NotApplicable("the device does not add float32")
    prepared_model = prepared_or_unsupported(context, build_model(vector, context.version).model)
    built = build_request(vector, vector.examples[0], context.version, insufficient_output=True)
    execution = Burst(context, prepared_model).execute(
        request_of(context, built), options=ExecutionOptions(measure=True)
    )
    timing_rules(context, execution, measured=True)
    allowed = {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, ErrorStatus.GENERAL_FAILURE}
    with checks.about("NNHAL-SHAPE-004"):
        checks.status(execution.status, allowed, "execution with an output that is a byte short")
        if execution.status == ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
            found = tuple(shape.is_sufficient for shape in execution.output_shapes)
            checks.equal(found, (False,), "isSufficient of the outputs")
    shape_rules(execution)


@cases.case("request.input_left_out", "NNHAL-REQUEST-003", "NNHAL-BURST-002", since=Version.V1_2)
def input_left_out(context: CaseContext) -> None:
    """An optional input may be left out of a request of several pools, as in the vectors of an operation."""
    vector = vectors.load("LSH_PROJECTION", "sparse_weights_left_out")
    if not supports(context, vector):
        raise NotApplicable("the device has no LSH_PROJECTION")
    prepared_model = prepared_or_unsupported(context, build_model(vector, context.version).model)
    burst = Burst(context, prepared_model)
    for example in vector.examples:
        built = build_request(vector, example, context.version)
        request, outputs = in_pools(context, built)
        execution = burst.execute(request)
        checks.status(execution.status, {ErrorStatus.NONE}, "execution without an optional input")
        judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))


def _executes(fixture: BurstFixture, burst: Burst, what: str) -> None:
    fixture.fill(*PAIRS[:2])
    fixture.succeeded(burst.execute(fixture.request()), plus(*PAIRS[:2]), what)
