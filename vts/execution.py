"""One execution of a prepared model, by the path that the version has, and what it must answer whatever it computes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from npu_conformance.harness import checks
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import Hung
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.build import BuiltRequest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import ExecutionCallback, PreparedModel
from npu_conformance.specs.neuralnetworks.types import OutputShape, Request, RequestMemoryPool, Timing
from npu_conformance.specs.versions import Version

NO_DEADLINE = -1
NO_LOOP_TIMEOUT = -1


@dataclass(frozen=True, slots=True)
class Execution:
    """What came back: an ErrorStatus, shapes and timing (null where the version or a failure has none).

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


def executors(version: Version) -> tuple[str, ...]:
    """The ways of execution that a version has, the usual one first."""
    if version < Version.V1_2:
        return ("asynchronous",)
    return ("synchronous",) if version.is_aidl else ("synchronous", "asynchronous")


def request_of(trial: Trial, built: BuiltRequest) -> Request:
    """The request in two pools of its own: one with its inputs, one for its outputs."""
    inputs, outputs = trial.pool(len(built.input_data) or 1), trial.pool(built.output_size)
    inputs.write(0, built.input_data)
    return built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))


def execute(
    trial: Trial,
    prepared_model: PreparedModel,
    request: Request,
    *,
    measure: bool,
    executor: str = "",
    loop_timeout: int = NO_LOOP_TIMEOUT,
    deadline: int = NO_DEADLINE,
) -> Execution:
    """Execute by one of `executors`, the usual one where none is named.

    loop_timeout: nanoseconds. deadline: nanoseconds of CLOCK_BOOTTIME.
    """
    times = {"loop_timeout": loop_timeout, "deadline": deadline}
    if (executor or executors(trial.version)[0]) == "asynchronous":
        return asynchronous(trial, prepared_model, request, measure=measure, **times)
    return synchronous(prepared_model, request, measure=measure, **times)


def synchronous(
    prepared_model: PreparedModel,
    request: Request,
    *,
    measure: bool,
    loop_timeout: int = NO_LOOP_TIMEOUT,
    deadline: int = NO_DEADLINE,
) -> Execution:
    """executeSynchronously; a failure is an answer here, not an exception."""
    try:
        result = prepared_model.execute_synchronously(request, measure, deadline, loop_timeout)
    except ServiceError as error:
        return Execution(error.status, (), None)
    status = ErrorStatus.NONE if result.output_sufficient_size else ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
    return Execution(status, result.output_shapes, result.timing)


def asynchronous(
    trial: Trial,
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
    seconds = trial.manifest.deadlines.execute * trial.manifest.time_scale
    answered = trial.subject.wait_until(lambda: bool(recorder.answers), seconds)
    if launched == ErrorStatus.NONE and not answered:
        raise Hung(f"execute was launched, but its callback was not notified within {seconds:g} s")
    checks.that(answered, f"execute returned {status_name(launched)}: expected a notification of the same, found none")
    checks.equal(len(recorder.answers), 1, "number of notifications of one execution")
    answer = recorder.answers[0]
    if launched != ErrorStatus.NONE:
        checks.status(answer.status, {launched}, "status notified after a failed launch")
    return replace(answer, launch_status=launched)


def timing_rules(trial: Trial, execution: Execution, *, measured: bool) -> None:
    """Times come only if asked for and with status NONE, the device's within the driver's (NNHAL-TIMING-001, -004)."""
    if execution.timing is None:
        return
    unavailable = trial.version.unavailable_time
    device, driver = execution.timing.time_on_device, execution.timing.time_in_driver
    if not measured or execution.status != ErrorStatus.NONE:
        what = "timing that was not asked for" if not measured else "timing of a failed execution (NNHAL-TIMING-002)"
        checks.equal((device, driver), (unavailable, unavailable), what)
        return
    for name, value in (("timeOnDevice", device), ("timeInDriver", driver)):
        legal = value == unavailable or 0 <= value < 2**63
        checks.that(legal, f"timing.{name}: expected a duration or {unavailable} for unavailable, found {value}")
    if unavailable not in (device, driver):
        checks.that(device <= driver, f"timing: timeOnDevice {device} exceeds timeInDriver {driver}")
