"""One execution of a prepared model, by the path that the version has, and what it must answer whatever it computes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from npu_conformance.corpus.wire_model import BuiltRequest
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Hung, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import ExecutionCallback, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    ExecutionConfig,
    ExecutionResult,
    OutputShape,
    Request,
    RequestMemoryPool,
    Timing,
)
from npu_conformance.specs.versions import HIDL_LAST, NEWEST, OLDEST, Version

NO_DEADLINE = -1
NO_LOOP_TIMEOUT = -1
NO_DURATION = -1


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


@dataclass(frozen=True, slots=True)
class Terms:
    """How to execute. measure: ask for times. loop_timeout: nanoseconds. deadline: nanoseconds of CLOCK_BOOTTIME."""

    measure: bool = False
    loop_timeout: int = NO_LOOP_TIMEOUT
    deadline: int = NO_DEADLINE


Run = Callable[[], Execution]
"""Executes one request once more."""

Opener = Callable[[CaseContext, PreparedModel, Request, Terms], Run]


@dataclass(frozen=True, slots=True)
class Path:
    """A way of execution. open: makes ready to execute a request, as often as wanted.

    loop_timeout_since: the first version in which it takes one. finds_shapes: also outputs of unknown shape, and such
    as do not fit, get an answer; else they are refused.
    """

    open: Opener
    since: Version = OLDEST
    until: Version = NEWEST
    loop_timeout_since: Version = OLDEST
    finds_shapes: bool = True


def executors(version: Version, *, loop_timeout: bool = False, finding_shapes: bool = False) -> tuple[str, ...]:
    """The ways of execution that a version has, the usual one first.

    loop_timeout: those that take one. finding_shapes: those that execute with outputs whose shapes are not known.
    """
    return tuple(
        name
        for name, path in PATHS.items()
        if path.since <= version <= path.until
        and (path.loop_timeout_since <= version or not loop_timeout)
        and (path.finds_shapes or not finding_shapes)
    )


def request_of(context: CaseContext, built: BuiltRequest) -> Request:
    """The request in two pools of its own: one with its inputs, one for its outputs."""
    inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    inputs.write(0, built.input_data)
    return built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))


def opened(
    context: CaseContext,
    prepared_model: PreparedModel,
    request: Request,
    terms: Terms | None = None,
    executor: str = "",
) -> Run:
    """Make ready to execute a request by one of `executors`, the usual one where none is named.

    What the run returns is whatever came back; a failure is an answer, not an exception.
    """
    path = PATHS[executor or executors(context.version)[0]]
    return path.open(context, prepared_model, request, terms or Terms())


def execute(
    context: CaseContext,
    prepared_model: PreparedModel,
    request: Request,
    *,
    measure: bool,
    executor: str = "",
    loop_timeout: int = NO_LOOP_TIMEOUT,
    deadline: int = NO_DEADLINE,
) -> Execution:
    """Execute once by one of `executors`, the usual one where none is named.

    loop_timeout: nanoseconds. deadline: nanoseconds of CLOCK_BOOTTIME.
    """
    return opened(context, prepared_model, request, Terms(measure, loop_timeout, deadline), executor)()


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
    status = ErrorStatus.NONE if result.output_sufficient_size else ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
    return Execution(status, result.output_shapes, result.timing)


def asynchronous(
    context: CaseContext,
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
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    answered = context.subject.wait_until(lambda: bool(recorder.answers), seconds)
    if launched == ErrorStatus.NONE and not answered:
        raise Hung(f"execute was launched, but its callback was not notified within {seconds:g} s")
    checks.that(answered, f"execute returned {status_name(launched)}: expected a notification of the same, found none")
    checks.equal(len(recorder.answers), 1, "number of notifications of one execution")
    answer = recorder.answers[0]
    if context.version < Version.V1_2:
        checks.equal((answer.output_shapes, answer.timing), ((), None), "shapes and timing before HAL 1.2")
    if launched != ErrorStatus.NONE:
        checks.status(answer.status, {launched}, "status notified after a failed launch")
    return replace(answer, launch_status=launched)


def _open_synchronous(context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms) -> Run:
    times = {"loop_timeout": terms.loop_timeout, "deadline": terms.deadline}
    return lambda: synchronous(prepared_model, request, measure=terms.measure, **times)


def _open_asynchronous(context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms) -> Run:
    times = {"loop_timeout": terms.loop_timeout, "deadline": terms.deadline}
    return lambda: asynchronous(context, prepared_model, request, measure=terms.measure, **times)


def _open_with_config(context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms) -> Run:
    config = config_of(terms)
    return lambda: answer_of(lambda: prepared_model.execute_synchronously_with_config(request, config, terms.deadline))


def _open_reusable(context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms) -> Run:
    """A request may be refused when it is bound, or at each execution (NNHAL-EXECUTE-015)."""
    try:
        reusable = prepared_model.create_reusable_execution(request, config_of(terms))
    except ServiceError as error:
        refused = Execution(error.status, (), None)
        return lambda: refused
    return lambda: answer_of(lambda: reusable.execute_synchronously(terms.deadline))


def _open_burst(
    context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms, *, with_config: bool = False
) -> Run:
    """A burst of its own; it is told the memory's names, so that a second run may know the memory already."""
    from npu_conformance.vts.lib.burst.executor import Burst

    if not context.version.is_aidl and any(pool.pool is None for pool in request.pools):
        raise NotApplicable("HIDL's packets can not name memory of the device")
    burst = Burst(context, prepared_model)
    return lambda: burst.execute(
        request, measure=terms.measure, deadline=terms.deadline, loop_timeout=terms.loop_timeout,
        with_config=with_config,
    )  # fmt: skip


def _open_fenced(
    context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms, *, with_config: bool = False
) -> Run:
    """Without wait fences; the end is waited for."""
    from npu_conformance.vts.lib.fenced import launching

    loop_timeout = None if terms.loop_timeout == NO_LOOP_TIMEOUT else terms.loop_timeout
    deadline = None if terms.deadline == NO_DEADLINE else terms.deadline
    form = launching.WITH_CONFIG if with_config else launching.PLAIN
    fenced = launching.Terms(terms.measure, deadline, loop_timeout, form=form)

    def run() -> Execution:
        outcome = launching.finish(
            context, launching.launch(context, prepared_model, request, terms=fenced), measured=terms.measure
        )
        return Execution(outcome.status, (), outcome.launched)

    return run


def _open_reusable_fenced(context: CaseContext, prepared_model: PreparedModel, request: Request, terms: Terms) -> Run:
    """As _open_reusable; the end of each run is waited for."""
    from npu_conformance.vts.lib.fenced import launching

    try:
        reusable = prepared_model.create_reusable_execution(request, config_of(terms))
    except ServiceError as error:
        refused = Execution(error.status, (), None)
        return lambda: refused

    def run() -> Execution:
        try:
            result = reusable.execute_fenced((), terms.deadline, NO_DURATION)
        except ServiceError as error:
            return Execution(error.status, (), None)
        checks.that(result.callback is not None, "executeFenced with status NONE: expected a callback, found null")
        launched = launching.Launched(ErrorStatus.NONE, result.callback, result.sync_fence)
        outcome = launching.finish(context, launched, measured=terms.measure)
        return Execution(outcome.status, (), outcome.launched)

    return run


def config_of(terms: Terms) -> ExecutionConfig:
    """The same as AIDL's ExecutionConfig, without hints."""
    return ExecutionConfig(measure_timing=terms.measure, loop_timeout_duration_ns=terms.loop_timeout)


PATHS: Mapping[str, Path] = {
    "synchronous": Path(_open_synchronous, since=Version.V1_2),
    "asynchronous": Path(_open_asynchronous, until=HIDL_LAST),
    "burst": Path(_open_burst, since=Version.V1_2, loop_timeout_since=Version.FL5),
    "fenced": Path(_open_fenced, since=Version.V1_3, finds_shapes=False),
    "synchronous_with_config": Path(_open_with_config, since=Version.FL8),
    "burst_with_config": Path(functools.partial(_open_burst, with_config=True), since=Version.FL8),
    "fenced_with_config": Path(
        functools.partial(_open_fenced, with_config=True), since=Version.FL8, finds_shapes=False
    ),
    "reusable": Path(_open_reusable, since=Version.FL8),
    "reusable_fenced": Path(_open_reusable_fenced, since=Version.FL8, finds_shapes=False),
}
"""Every way of execution by the name that it has in configurations, the usual ones first."""


def shape_rules(execution: Execution) -> None:
    """Shapes come with a result, or where an output does not fit, only (NNHAL-SHAPE-007)."""
    if execution.status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE):
        checks.equal(execution.output_shapes, (), f"output shapes of an execution that ended with {execution.status}")


def timing_rules(context: CaseContext, execution: Execution, *, measured: bool) -> None:
    """Times come only if asked for and with status NONE, the device's within the driver's (NNHAL-TIMING-001, -004)."""
    if execution.timing is None:
        return
    unavailable = context.version.unavailable_time
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
