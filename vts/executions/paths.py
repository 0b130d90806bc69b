"""Each way of execution gives the same, again and again, and is done when it says so."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Behaviours, Group, Scope
from npu_conformance.harness.run.context import Trial
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import OutputShape, Request, Timing
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.execution import (
    NO_DEADLINE,
    NO_LOOP_TIMEOUT,
    ExecutionRecorder,
    executors,
    opened,
    shape_rules,
    timing_rules,
)
from npu_conformance.vts.lib.sums import FILL, Sum, sum_of

cases = Behaviours("vts.executions", group=Group.EXECUTION)

_ASYNCHRONOUS = "asynchronous"
_ALIGNMENT = 64


@cases.case("request.used_twice", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-018", scope=Scope.SMOKE)
def used_twice(trial: Trial) -> None:
    """One request is executed twice, by each path: both results are right, and the same to the last bit."""
    chosen = addition.supported(trial)
    prepared_model, asked = chosen.prepared(trial), sum_of(trial, chosen)
    for executor in executors(trial.version):
        with trial.configuration(executor):
            run, results = opened(trial, prepared_model, asked.request, executor=executor), []
            for turn in ("first", "second"):
                asked.clear()
                asked.check(run(), f"{turn} execution of the request")
                results.append(asked.result())
            checks.equal(results[1], results[0], "bytes of the second result")


@cases.case("paths.agree", "NNHAL-EXECUTE-008", since=Version.V1_2)
def paths_agree(trial: Trial) -> None:
    """Every path gives the right result of the same request; a quality warning where their bits differ."""
    chosen = addition.supported(trial)
    prepared_model, asked = chosen.prepared(trial), sum_of(trial, chosen)
    usual = b""
    for executor in executors(trial.version):
        with trial.configuration(executor):
            asked.clear()
            asked.check(opened(trial, prepared_model, asked.request, executor=executor)(), f"{executor} execution")
            found = asked.result()
            usual = usual or found
            if found != usual:
                trial.warn_quality(f"the result of {executor} execution differs in some bits from the usual one")


@cases.case("paths.done_at_return", "NNHAL-EXECUTE-006", since=Version.V1_2)
def done_at_return(trial: Trial) -> None:
    """Outputs are there when a synchronous execution returns, and nothing is written afterwards."""
    chosen = addition.supported(trial)
    prepared_model, asked = chosen.prepared(trial), sum_of(trial, chosen)
    for executor in executors(trial.version):
        if executor != _ASYNCHRONOUS:
            with trial.configuration(executor):
                asked.clear()
                asked.check(opened(trial, prepared_model, asked.request, executor=executor)(), f"{executor} execution")
                _nothing_more_is_written(trial, asked, f"{executor} execution has returned")


@cases.case("asynchronous.done_when_notified", "NNHAL-EXECUTE-003", until=HIDL_LAST)
def done_when_notified(trial: Trial) -> None:
    """An execution is launched with NONE; when it notifies, once, its outputs are there and nothing more is written."""
    chosen = addition.supported(trial)
    asked = sum_of(trial, chosen)
    recorder = _Watching(asked.result)
    launched = _launch(trial, chosen.prepared(trial).execute, asked.request, recorder)
    checks.status(launched, {ErrorStatus.NONE}, "execute, returned")
    checks.status(recorder.answers[0].status, {ErrorStatus.NONE}, "execute, notified")
    chosen.check(recorder.seen[0], asked.expected, "sum when the execution notifies")
    _nothing_more_is_written(trial, asked, "the execution has notified")
    checks.equal(len(recorder.answers), 1, "number of notifications of one execution")


@cases.case(
    "asynchronous.refused_both_ways", "NNHAL-EXECUTE-004", "NNHAL-ERROR-009", "NNHAL-SHAPE-007", "NNHAL-TIMING-002",
    until=HIDL_LAST,
)  # fmt: skip
def refused_both_ways(trial: Trial) -> None:
    """An argument error is returned and notified, once, with neither shapes nor times."""
    chosen = addition.supported(trial)
    asked, prepared_model = sum_of(trial, chosen), chosen.prepared(trial)
    recorder = ExecutionRecorder()
    launched = _launch(trial, prepared_model.execute, replace(asked.request, outputs=()), recorder, measure=True)
    checks.status(launched, {ErrorStatus.INVALID_ARGUMENT}, "execute of the invalid request, returned")
    answer = recorder.answers[0]
    checks.status(answer.status, {ErrorStatus.INVALID_ARGUMENT}, "execute of the invalid request, notified")
    shape_rules(answer)
    timing_rules(trial, answer, measured=True)
    asked.clear()
    _nothing_more_is_written(trial, asked, "the execution was refused")
    checks.equal(len(recorder.answers), 1, "number of notifications of a refused execution")


@cases.case("asynchronous.status_only", "NNHAL-SHAPE-011", until=Version.V1_1)
def status_only(trial: Trial) -> None:
    """Before HAL 1.2 a notification holds the status, and neither shapes nor times."""
    chosen = addition.supported(trial)
    asked, prepared_model = sum_of(trial, chosen), chosen.prepared(trial)
    for name, request in {"valid": asked.request, "invalid": replace(asked.request, outputs=())}.items():
        with trial.configuration(name):
            recorder = ExecutionRecorder()
            _launch(trial, prepared_model.execute, request, recorder)
            answer = recorder.answers[0]
            checks.equal((answer.output_shapes, answer.timing), ((), None), "shapes and timing before HAL 1.2")


@cases.case("synchronous.refused_with_a_status", "NNHAL-ERROR-001", "NNHAL-ERROR-009", since=Version.FL5)
def refused_with_a_status(trial: Trial) -> None:
    """A refusal is a service-specific error with the number of INVALID_ARGUMENT, by each path."""
    chosen = addition.supported(trial)
    asked, prepared_model = sum_of(trial, chosen), chosen.prepared(trial)
    invalid = replace(asked.request, inputs=asked.request.inputs[:1])
    for executor in executors(trial.version):
        with trial.configuration(executor):
            answer = opened(trial, prepared_model, invalid, executor=executor)()
            checks.status(answer.status, {ErrorStatus.INVALID_ARGUMENT}, f"{executor} execution of the invalid request")
            checks.equal((answer.output_shapes, answer.timing), ((), None), "shapes and times of the refused execution")


@cases.case("layout.padded", "NNHAL-EXECUTE-011", "NNHAL-REQUEST-013", since=Version.FL5)
def padded(trial: Trial) -> None:
    """Arguments begin and, with their padding, end at multiples of 64 bytes; what lies in it counts for nothing."""
    chosen = addition.supported(trial)
    asked, padding = sum_of(trial, chosen), _ALIGNMENT - addition.SIZE
    for place in (addition.SIZE, _ALIGNMENT + addition.SIZE):
        asked.inputs.write(place, bytes([FILL]) * padding)
    inputs, outputs = (
        tuple(replace(one, location=replace(one.location, padding=padding)) for one in arguments)
        for arguments in (asked.request.inputs, asked.request.outputs)
    )
    _adds(trial, asked, replace(asked.request, inputs=inputs, outputs=outputs))


@cases.case("layout.compact", "NNHAL-EXECUTE-009", "NNHAL-EXECUTE-011")
def compact(trial: Trial) -> None:
    """Arguments lie one behind the other, at multiples of their elements' size, without padding."""
    chosen = addition.supported(trial)
    asked = sum_of(trial, chosen)
    asked.inputs.write(4, chosen.packed(addition.A) + chosen.packed(addition.B))
    inputs = tuple(
        replace(one, location=replace(one.location, offset=4 + addition.SIZE * number))
        for number, one in enumerate(asked.request.inputs)
    )
    _adds(trial, asked, replace(asked.request, inputs=inputs))


def _adds(trial: Trial, asked: Sum, request: Request) -> None:
    prepared_model = asked.chosen.prepared(trial)
    for executor in executors(trial.version):
        with trial.configuration(executor):
            asked.clear()
            asked.check(opened(trial, prepared_model, request, executor=executor)(), f"{executor} execution")


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
    trial: Trial,
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
    seconds = trial.manifest.deadlines.execute * trial.manifest.time_scale
    checks.that(trial.subject.wait_until(lambda: bool(recorder.answers), seconds), "execute: found no notification")
    return status


def _nothing_more_is_written(trial: Trial, asked: Sum, when: str) -> None:
    asked.clear()
    # Further round trips give a device that goes on the time to do so.
    for _ in range(3):
        trial.supported_operations(asked.chosen.model())
    checks.equal(set(asked.result()), {FILL}, f"bytes of the output that was filled after {when}")
