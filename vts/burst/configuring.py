"""Opening bursts and letting go of them, and requests that a burst refuses like any other form of execution."""

from __future__ import annotations

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import BurstCallback
from npu_conformance.specs.neuralnetworks.types import QueueDescriptor, RequestMemoryPool
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.burst.channel import CAPACITY, SlotTable, configured, queue_memory
from npu_conformance.vts.lib.burst.executor import Burst
from npu_conformance.vts.lib.burst.fixture import PAIRS, Work, added, work
from npu_conformance.vts.lib.execution import request_of, timing_rules
from npu_conformance.vts.lib.judging import judge
from npu_conformance.vts.lib.request_edits import EDITS
from npu_conformance.vts.lib.support import supports

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_ANY_SIZE = 2**32 - 1


@cases.case("configure.succeeds", "NNHAL-BURST-001", since=Version.V1_2, scope=Scope.SMOKE)
def succeeds(context: CaseContext) -> None:
    """A prepared model opens a burst, and executes through it."""
    lab = work(context)
    checks.succeeds(lambda: _open(context, lab), "configureExecutionBurst")
    _executes(lab, Burst(context, lab.prepared_model), "execution through the burst")


def _open(context: CaseContext, lab: Work) -> None:
    if context.version.is_aidl:
        checks.that(lab.prepared_model.configure_execution_burst() is not None, "configureExecutionBurst: found null")
        return
    (_, requests), (_, results) = (queue_memory(context, CAPACITY) for _ in range(2))
    configured(lab.prepared_model, SlotTable(), requests, results)


@cases.case("configure.null_callback", "NNHAL-BURST-021", since=Version.V1_2, until=HIDL_LAST)
def null_callback(context: CaseContext) -> None:
    """A null callback is refused; another burst opens."""
    lab = work(context)
    (_, requests), (_, results) = (queue_memory(context, CAPACITY) for _ in range(2))
    _refused(lab, None, requests, results, "a null callback")
    _executes(lab, Burst(context, lab.prepared_model), "execution after the refusal")


@cases.case("configure.bad_queues", "NNHAL-BURST-021", "NNHAL-ROBUST-003", since=Version.V1_2, until=HIDL_LAST)
def bad_queues(context: CaseContext) -> None:
    """Queues without room, larger than their memory, or in memory that is not there are refused."""
    lab = work(context)
    _, good = queue_memory(context, CAPACITY)
    bad = {"no_room": QueueDescriptor(0, good.memory)}
    if good.memory is not None:
        bad["too_large"] = QueueDescriptor(CAPACITY + 1, good.memory)
        bad["far_too_large"] = QueueDescriptor(_ANY_SIZE, good.memory)
    for name, queue in bad.items():
        for place in ("requests", "results"):
            with context.configuration(f"{place}.{name}"):
                both = (queue, good) if place == "requests" else (good, queue)
                _refused(lab, SlotTable(), *both, f"{place} of {queue.capacity} elements")


def _refused(
    lab: Work, callback: BurstCallback | None, requests: QueueDescriptor, results: QueueDescriptor, what: str
) -> None:
    try:
        configured(lab.prepared_model, callback, requests, results)
    except Unsupported as error:
        raise NotApplicable(f"the device opens no burst: {error}") from None
    except ServiceError as error:
        checks.that(error.status != ErrorStatus.NONE, f"configureExecutionBurst with {what}: an error of status NONE")
    else:
        checks.fail(f"configureExecutionBurst with {what}", "an error status", "success")


@cases.case("several.side_by_side", "NNHAL-BURST-001", "NNHAL-BURST-017", since=Version.V1_2)
def side_by_side(context: CaseContext) -> None:
    """Bursts of one prepared model know nothing of each other: one name means another memory in each."""
    lab = work(context)
    bursts = [(Burst(context, lab.prepared_model), lab.another_pool()) for _ in range(2)]
    for turn in range(3):
        for number, (burst, pool) in enumerate(bursts):
            first, second = PAIRS[turn], PAIRS[turn + 1 - number]
            lab.fill(first, second, pool)
            execution = burst.execute(lab.request(pool), (7,))
            lab.succeeded(execution, added(first, second), f"turn {turn} of burst {number}", pool)


@cases.case("several.release_in_one", "NNHAL-BURST-017", since=Version.V1_2)
def release_in_one(context: CaseContext) -> None:
    """What one burst forgets, another one of the same prepared model still has."""
    lab = work(context)
    first, second = Burst(context, lab.prepared_model), Burst(context, lab.prepared_model)
    for burst in (first, second):
        _executes(lab, burst, "execution before the release")
    first.release(0)
    _executes(lab, second, "execution of the burst that kept its memory")
    _executes(lab, first, "execution of the burst that released its memory")


@cases.case("dropped.while_idle", "NNHAL-BURST-001", "NNHAL-ROBUST-003", since=Version.V1_2)
def dropped_while_idle(context: CaseContext) -> None:
    """Bursts that were used are dropped, one after the other; the prepared model executes as before."""
    lab = work(context)
    for turn in range(4):
        burst = Burst(context, lab.prepared_model)
        _executes(lab, burst, f"execution of burst {turn}")
        del burst
    _executes(lab, Burst(context, lab.prepared_model), "execution of a burst after others were dropped")


@cases.case("order.own_results", "NNHAL-BURST-017", "NNHAL-BURST-016", since=Version.V1_2)
def own_results(context: CaseContext) -> None:
    """Many executions one after the other, whose contents change: each has its own result, refused ones between."""
    lab = work(context)
    burst = Burst(context, lab.prepared_model)
    for turn in range(24):
        first, second = PAIRS[turn % 4], PAIRS[(turn // 4 + turn) % 4]
        lab.fill(first, second)
        lab.succeeded(burst.execute(lab.request(), measure=bool(turn % 2)), added(first, second), f"execution {turn}")
        if turn % 8 == 3:
            spoiled = EDITS[0].edit(lab.request(), lab.chosen.elements)
            checks.status(burst.execute(spoiled).status, {ErrorStatus.INVALID_ARGUMENT}, "an invalid request between")


@cases.case("request.invalid", "NNHAL-BURST-012", since=Version.V1_2, scope=Scope.SMOKE)
def invalid_request(context: CaseContext) -> None:
    """Every spoiled request is refused with INVALID_ARGUMENT, and the burst goes on.

    AOSP's VTS tries the removed arguments; the others are what the interface text says of every form of execution.
    """
    lab = work(context)
    burst = Burst(context, lab.prepared_model)
    for spoiled in EDITS:
        if spoiled.since <= context.version:
            with context.configuration(spoiled.name, requirements=spoiled.requirements):
                request = spoiled.edit(lab.request(), lab.chosen.elements)
                execution = burst.execute(request, measure=True)
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, f"a request with {spoiled.name}")
                checks.equal(execution.output_shapes, (), "output shapes of the refused request")
                timing_rules(context, execution, measured=True)
                _executes(lab, burst, "execution after the refusal")


@cases.case("request.output_too_small", "NNHAL-BURST-003", "NNHAL-SHAPE-004", since=Version.V1_2)
def output_too_small(context: CaseContext) -> None:
    """An output that does not fit is OUTPUT_INSUFFICIENT_SIZE with shapes, or a failure where that is declined."""
    vector = vectors.load("ADD", "float32_none_same")
    if not supports(context, vector):
        raise NotApplicable("the device does not add float32")
    prepared_model = addition.prepared(context, build_model(vector, context.version).model)
    built = build_request(vector, vector.examples[0], context.version, insufficient_output=True)
    execution = Burst(context, prepared_model).execute(request_of(context, built), measure=True)
    timing_rules(context, execution, measured=True)
    allowed = {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, ErrorStatus.GENERAL_FAILURE}
    checks.status(execution.status, allowed, "execution with an output that is a byte short")
    if execution.status == ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
        found = tuple(shape.is_sufficient for shape in execution.output_shapes)
        checks.equal(found, (False,), "isSufficient of the outputs")
    else:
        checks.equal(execution.output_shapes, (), "output shapes of a failure")


@cases.case("request.input_left_out", "NNHAL-BURST-002", since=Version.V1_2)
def input_left_out(context: CaseContext) -> None:
    """An optional input without a value, in a request of several pools, as the vectors of an operation have it."""
    vector = vectors.load("LSH_PROJECTION", "sparse_weights_left_out")
    if not supports(context, vector):
        raise NotApplicable("the device has no LSH_PROJECTION")
    prepared_model = addition.prepared(context, build_model(vector, context.version).model)
    burst = Burst(context, prepared_model)
    for example in vector.examples:
        built = build_request(vector, example, context.version)
        inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
        inputs.write(0, built.input_data)
        request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
        execution = burst.execute(request)
        checks.status(execution.status, {ErrorStatus.NONE}, "execution without an optional input")
        data = outputs.read(0, built.output_size)
        found = {name: built.read(name, data, example.outputs[name].shape) for name in vector.outputs}
        judge(context, vector, example, found)


def _executes(lab: Work, burst: Burst, what: str) -> None:
    lab.fill(*PAIRS[:2])
    lab.succeeded(burst.execute(lab.request()), added(*PAIRS[:2]), what)
