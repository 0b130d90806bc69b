"""One execution of a prepared model, and what it must answer whatever it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus.wire_model import BuiltRequest
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import ExecutionCallback, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    NO_DURATION,
    NO_LOOP_TIMEOUT,
    ExecutionConfig,
    ExecutionResult,
    ExtensionNameAndPrefix,
    OutputShape,
    Request,
    RequestMemoryPool,
    Timing,
    TokenValuePair,
)
from npu_conformance.specs.versions import Version


class Versioned(Protocol):
    """Whoever knows the version that is tested."""

    @property
    def version(self) -> Version:
        """The HAL version."""
        ...


class Surroundings(Versioned, Protocol):
    """What an execution needs of whoever makes it: a running case, or a fuzzer."""

    @property
    def subject(self) -> SubjectHandle:
        """The implementation under test."""
        ...

    @property
    def manifest(self) -> Manifest:
        """Its manifest."""
        ...

    def pool(self, size: int) -> Pool:
        """Memory that lasts as long as whoever makes the execution."""
        ...


class Execution(msgspec.Struct, frozen=True):
    """What came back: an ErrorStatus, shapes and timing (None where the version or a failure has none).

    launch_status: what an asynchronous launch returned.
    """

    status: int
    output_shapes: tuple[OutputShape, ...]
    timing: Timing | None
    launch_status: int = ErrorStatus.NONE


class ExecutionRecorder(ExecutionCallback):
    """A callback that keeps every answer it gets."""

    def __init__(self) -> None:
        self.answers: list[Execution] = []

    def notify(self, status: int, output_shapes: tuple[OutputShape, ...], timing: Timing | None) -> None:
        """Keep the answer."""
        self.answers.append(Execution(status, output_shapes, timing))


class ExecutionOptions(msgspec.Struct, frozen=True):
    """How to execute; what a way to execute cannot say is left out.

    measure: ask for times. loop_timeout: nanoseconds. deadline: nanoseconds of CLOCK_BOOTTIME. duration: nanoseconds,
    of fenced executions. hints, extensions: of a configuration.
    """

    measure: bool = False
    loop_timeout: int = NO_LOOP_TIMEOUT
    deadline: int = NO_DEADLINE
    duration: int = NO_DURATION
    hints: tuple[TokenValuePair, ...] = ()
    extensions: tuple[ExtensionNameAndPrefix, ...] = ()


def in_pools(context: Surroundings, built: BuiltRequest) -> tuple[Request, Pool]:
    """The request in two pools of its own, one with its inputs and one for its outputs; and the latter."""
    inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    inputs.write(0, built.input_data)
    return built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory)), outputs


def request_of(context: Surroundings, built: BuiltRequest) -> Request:
    """The request in two pools of its own, where nobody looks at its outputs."""
    return in_pools(context, built)[0]


def synchronous(
    prepared_model: PreparedModel,
    request: Request,
    *,
    measure: bool,
    loop_timeout: int = NO_LOOP_TIMEOUT,
    deadline: int = NO_DEADLINE,
) -> Execution:
    """executeSynchronously; a failure is an answer here, not an exception."""
    return answer_of(lambda: prepared_model.execute_synchronously(request, measure, deadline, loop_timeout))


def answer_of(call: Callable[[], ExecutionResult]) -> Execution:
    """What a synchronous call came to; a failure is an answer here, not an exception."""
    try:
        result = call()
    except ServiceError as error:
        return Execution(error.status, (), None)
    return Execution(result.status, result.output_shapes, result.timing)


def asynchronous(
    context: Surroundings,
    prepared_model: PreparedModel,
    request: Request,
    *,
    measure: bool,
    loop_timeout: int = NO_LOOP_TIMEOUT,
    deadline: int = NO_DEADLINE,
) -> Execution:
    """execute with a callback; what the launch returned and what was notified must agree (NNHAL-EXECUTE-003, -004)."""
    recorder = ExecutionRecorder()
    launched: int = ErrorStatus.NONE
    try:
        prepared_model.execute(request, measure, deadline, loop_timeout, recorder)
    except ServiceError as error:
        launched = error.status
    with checks.about("NNHAL-EXECUTE-003" if launched == ErrorStatus.NONE else "NNHAL-EXECUTE-004"):
        answer = _notified(context, recorder, launched)
    if context.version < Version.V1_2:
        with checks.about("NNHAL-SHAPE-011"):
            checks.equal((answer.output_shapes, answer.timing), ((), None), "shapes and timing before HAL 1.2")
    return replace(answer, launch_status=launched)


def _notified(context: Surroundings, recorder: ExecutionRecorder, launched: int) -> Execution:
    """The one answer that the callback gets."""
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    answered = context.subject.wait_until(lambda: bool(recorder.answers), seconds)
    if launched == ErrorStatus.NONE and not answered:
        raise Hung(f"execute was launched, but its callback was not notified within {seconds:g} s")
    checks.that(answered, f"execute returned {status_name(launched)}: expected a notification of the same, found none")
    with checks.about("NNHAL-EXECUTE-003"):
        checks.equal(len(recorder.answers), 1, "number of notifications of one execution")
    answer = recorder.answers[0]
    if launched != ErrorStatus.NONE:
        checks.status(answer.status, {launched}, "status notified after a failed launch")
    return answer


def config_of(options: ExecutionOptions) -> ExecutionConfig:
    """What of the options AIDL's ExecutionConfig says."""
    return ExecutionConfig(options.measure, options.loop_timeout, options.hints, options.extensions)


@checks.about("NNHAL-SHAPE-007")
def shape_rules(execution: Execution) -> None:
    """Shapes come with a result, or where an output does not fit, only (NNHAL-SHAPE-007)."""
    if execution.status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE):
        checks.equal(execution.output_shapes, (), f"output shapes of an execution that ended with {execution.status}")


def timing_rules(context: Versioned, execution: Execution, *, measured: bool) -> None:
    """Times come only if asked for and with status NONE, the device's within the driver's (NNHAL-TIMING-001, -004)."""
    if execution.timing is None:
        return
    unavailable = context.version.unavailable_time
    device, driver = execution.timing.time_on_device, execution.timing.time_in_driver
    if execution.status != ErrorStatus.NONE:
        with checks.about("NNHAL-TIMING-002"):
            checks.equal((device, driver), (unavailable, unavailable), "timing of a failed execution")
        return
    if not measured:
        with checks.about("NNHAL-TIMING-001"):
            checks.equal((device, driver), (unavailable, unavailable), "timing that was not asked for")
        return
    for name, value in (("timeOnDevice", device), ("timeInDriver", driver)):
        with checks.about("NNHAL-TIMING-006" if context.version.is_aidl else "NNHAL-TIMING-005"):
            legal = value == unavailable or 0 <= value < 2**63
            checks.that(legal, f"timing.{name}: expected a duration or {unavailable} for unavailable, found {value}")
    if unavailable not in (device, driver):
        with checks.about("NNHAL-TIMING-004"):
            checks.that(device <= driver, f"timing: timeOnDevice {device} exceeds timeInDriver {driver}")
