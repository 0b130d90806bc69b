"""Each executor gives the same result again and again, and is done when it says so."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionRecorder, shape_rules, timing_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, NO_LOOP_TIMEOUT, OutputShape, Request, Timing
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.sums import Sum, sum_of

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_ASYNCHRONOUS = "asynchronous"
_ALIGNMENT = 64


@cases.case("request.used_twice", "NNHAL-EXECUTE-018", "NNHAL-EXECUTE-001", scope=Scope.SMOKE)
def used_twice(context: CaseContext) -> None:
    """One request is executed twice, by each executor: both results are right, and the same to the last bit."""
    chosen = addition.supported(context)
    prepared_model, asked = chosen.prepared(context), sum_of(context, chosen)
    for executor in executors(context.version):
        with context.configuration(executor):
            run, results = bind(context, prepared_model, asked.request, executor=executor), []
            for turn in ("first", "second"):
                asked.clear()
                with checks.about("NNHAL-EXECUTE-001"):
                    asked.check(run(), f"{turn} execution of the request")
                results.append(asked.result())
            checks.equal(results[1], results[0], "bytes of the second result")


@cases.case("paths.agree", "NNHAL-EXECUTE-008", since=Version.V1_2)
def paths_agree(context: CaseContext) -> None:
    """Every executor gives the right result of the same request; a quality warning where their bits differ."""
    chosen = addition.supported(context)
    prepared_model, asked = chosen.prepared(context), sum_of(context, chosen)
    usual = b""
    for executor in executors(context.version):
        with context.configuration(executor):
            asked.clear()
            asked.check(bind(context, prepared_model, asked.request, executor=executor)(), f"{executor} execution")
            found = asked.result()
            usual = usual or found
            if found != usual:
                context.warn_quality(f"the result of {executor} execution differs in some bits from the usual one")


@cases.case("paths.done_at_return", "NNHAL-EXECUTE-006", since=Version.V1_2)
def done_at_return(context: CaseContext) -> None:
    """Outputs are there when a synchronous execution returns, and nothing is written afterwards."""
    chosen = addition.supported(context)
    prepared_model, asked = chosen.prepared(context), sum_of(context, chosen)
    for executor in executors(context.version):
        if executor != _ASYNCHRONOUS:
            with context.configuration(executor):
                asked.clear()
                asked.check(bind(context, prepared_model, asked.request, executor=executor)(), f"{executor} execution")
                _nothing_more_is_written(context, asked, f"{executor} execution has returned")


@cases.case("asynchronous.done_when_notified", "NNHAL-EXECUTE-003", until=HIDL_LAST)
def done_when_notified(context: CaseContext) -> None:
    """An execution is launched with NONE; when it notifies, once, its outputs are there and nothing more is written."""
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    recorder = _Watching(asked.result)
    launched = _launch(context, chosen.prepared(context).execute, asked.request, recorder)
    checks.status(launched, {ErrorStatus.NONE}, "execute, returned")
    checks.status(recorder.answers[0].status, {ErrorStatus.NONE}, "execute, notified")
    chosen.check(recorder.seen[0], asked.expected, "sum when the execution notifies")
    _nothing_more_is_written(context, asked, "the execution has notified")
    checks.equal(len(recorder.answers), 1, "number of notifications of one execution")


@cases.case(
    "asynchronous.refused_both_ways",
    "NNHAL-EXECUTE-004",
    "NNHAL-ERROR-009",
    "NNHAL-SHAPE-007",
    "NNHAL-TIMING-002",
    until=HIDL_LAST,
)
def rejected_both_ways(context: CaseContext) -> None:
    """An argument error is returned and notified, once, with neither shapes nor times."""
    chosen = addition.supported(context)
    asked, prepared_model = sum_of(context, chosen), chosen.prepared(context)
    recorder = ExecutionRecorder()
    launched = _launch(context, prepared_model.execute, replace(asked.request, outputs=()), recorder, measure=True)
    checks.status(launched, {ErrorStatus.INVALID_ARGUMENT}, "execute of the invalid request, returned")
    answer = recorder.answers[0]
    checks.status(answer.status, {ErrorStatus.INVALID_ARGUMENT}, "execute of the invalid request, notified")
    shape_rules(answer)
    timing_rules(context, answer, measured=True)
    asked.clear()
    _nothing_more_is_written(context, asked, "the execution was rejected")
    checks.equal(len(recorder.answers), 1, "number of notifications of a rejected execution")


@cases.case("asynchronous.status_only", "NNHAL-SHAPE-011", until=Version.V1_1)
def status_only(context: CaseContext) -> None:
    """Before HAL 1.2 a notification holds the status, and neither shapes nor times."""
    chosen = addition.supported(context)
    asked, prepared_model = sum_of(context, chosen), chosen.prepared(context)
    for name, request in {"valid": asked.request, "invalid": replace(asked.request, outputs=())}.items():
        with context.configuration(name):
            recorder = ExecutionRecorder()
            _launch(context, prepared_model.execute, request, recorder)
            answer = recorder.answers[0]
            checks.equal((answer.output_shapes, answer.timing), ((), None), "shapes and timing before HAL 1.2")


@cases.case("synchronous.refused_with_a_status", "NNHAL-ERROR-001", "NNHAL-ERROR-009", since=Version.FL5)
def rejected_with_a_status(context: CaseContext) -> None:
    """A rejection is a service-specific error with the number of INVALID_ARGUMENT, by each executor."""
    chosen = addition.supported(context)
    asked, prepared_model = sum_of(context, chosen), chosen.prepared(context)
    invalid = replace(asked.request, inputs=asked.request.inputs[:1])
    for executor in executors(context.version):
        with context.configuration(executor):
            answer = bind(context, prepared_model, invalid, executor=executor)()
            checks.status(answer.status, {ErrorStatus.INVALID_ARGUMENT}, f"{executor} execution of the invalid request")
            with checks.about("NNHAL-ERROR-009"):
                found = (answer.output_shapes, answer.timing)
                checks.equal(found, ((), None), "shapes and times of a rejected execution")


@cases.case("layout.padded", "NNHAL-EXECUTE-011", "NNHAL-REQUEST-013", since=Version.FL5)
def padded(context: CaseContext) -> None:
    """Arguments begin and, with their padding, end at multiples of 64 bytes; what lies in it means nothing."""
    chosen = addition.supported(context)
    asked, padding = sum_of(context, chosen), _ALIGNMENT - addition.SIZE
    for place in (addition.SIZE, _ALIGNMENT + addition.SIZE):
        asked.inputs.write(place, bytes([FILL]) * padding)
    inputs, outputs = (
        tuple(replace(one, location=replace(one.location, padding=padding)) for one in arguments)
        for arguments in (asked.request.inputs, asked.request.outputs)
    )
    _adds(context, asked, replace(asked.request, inputs=inputs, outputs=outputs))


@cases.case("layout.compact", "NNHAL-EXECUTE-009", "NNHAL-EXECUTE-011")
def compact(context: CaseContext) -> None:
    """Arguments may lie one behind the other, at multiples of their elements' size, without padding."""
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    asked.inputs.write(4, chosen.packed(addition.A) + chosen.packed(addition.B))
    inputs = tuple(
        replace(one, location=replace(one.location, offset=4 + addition.SIZE * number))
        for number, one in enumerate(asked.request.inputs)
    )
    _adds(context, asked, replace(asked.request, inputs=inputs))


def _adds(context: CaseContext, asked: Sum, request: Request) -> None:
    prepared_model = asked.chosen.prepared(context)
    for executor in executors(context.version):
        with context.configuration(executor):
            asked.clear()
            asked.check(bind(context, prepared_model, request, executor=executor)(), f"{executor} execution")


class _Watching(ExecutionRecorder):
    """Looks at the outputs while it is notified."""

    def __init__(self, look: Callable[[], bytes]) -> None:
        super().__init__()
        self._look = look
        self.seen: list[bytes] = []

    def notify(self, status: int, output_shapes: tuple[OutputShape, ...], timing: Timing | None) -> None:
        """Look, and keep the answer."""
        self.seen.append(self._look())
        super().notify(status, output_shapes, timing)


def _launch(
    context: CaseContext,
    execute: Callable[[Request, bool, int, int, ExecutionRecorder], None],
    request: Request,
    recorder: ExecutionRecorder,
    *,
    measure: bool = False,
) -> int:
    """Launch and wait for the notification; returns the status of the launch."""
    status: int = ErrorStatus.NONE
    try:
        execute(request, measure, NO_DEADLINE, NO_LOOP_TIMEOUT, recorder)
    except ServiceError as error:
        status = error.status
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    checks.that(context.subject.wait_until(lambda: bool(recorder.answers), seconds), "execute: found no notification")
    return status


def _nothing_more_is_written(context: CaseContext, asked: Sum, when: str) -> None:
    asked.clear()
    # Further round trips give a device that goes on the time to do so.
    for _ in range(3):
        context.supported_operations(asked.chosen.model())
    checks.equal(set(asked.result()), {FILL}, f"bytes of the output that was filled after {when}")
