"""The executors, as AOSP calls the ways to execute a prepared model: which a version has, and how each is used."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    Surroundings,
    answer_of,
    asynchronous,
    config_of,
    synchronous,
)
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Execution as ReusableExecution
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, NO_LOOP_TIMEOUT, Request
from npu_conformance.specs.versions import HIDL_LAST, NEWEST, OLDEST, Version

Run = Callable[[], Execution]
"""Executes one request once more."""

Bind = Callable[[Surroundings, PreparedModel, Request, ExecutionOptions], Run]


class Executor(msgspec.Struct, frozen=True):
    """A way to execute. bind: makes ready to execute a request, as often as wanted.

    loop_timeout_since: the first version in which it takes one. finds_shapes: outputs of unknown shape, and those that
    do not fit, get an answer, too; else they are rejected.
    """

    bind: Bind
    since: Version = OLDEST
    until: Version = NEWEST
    loop_timeout_since: Version = OLDEST
    finds_shapes: bool = True


@functools.cache
def executors(version: Version, *, loop_timeout: bool = False, finding_shapes: bool = False) -> tuple[str, ...]:
    """The names of the executors that a version has, the usual one first.

    loop_timeout: those that take one. finding_shapes: those that execute with outputs whose shapes are not known.
    """
    return tuple(
        name
        for name, executor in EXECUTORS.items()
        if executor.since <= version <= executor.until
        and (executor.loop_timeout_since <= version or not loop_timeout)
        and (executor.finds_shapes or not finding_shapes)
    )


def naming_buffers(version: Version, *, finding_shapes: bool = False) -> list[str]:
    """The executors whose requests can name buffers of the driver: HIDL's packets cannot."""
    return [one for one in executors(version, finding_shapes=finding_shapes) if version.is_aidl or one != "burst"]


def bind(
    context: CaseContext,
    prepared_model: PreparedModel,
    request: Request,
    options: ExecutionOptions | None = None,
    executor: str = "",
) -> Run:
    """Make ready to execute a request by one of `executors`, the usual one where none is named.

    What the run returns is whatever came back; a failure is an answer, not an exception.
    """
    chosen = EXECUTORS[executor or executors(context.version)[0]]
    run = chosen.bind(context, prepared_model, request, options or ExecutionOptions())

    def recorded() -> Execution:
        execution = run()
        context.mark_execution(prepared_model, succeeded=execution.status == ErrorStatus.NONE)
        return execution

    return recorded


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
    return bind(context, prepared_model, request, ExecutionOptions(measure, loop_timeout, deadline), executor)()


def _bind_synchronous(
    context: Surroundings, prepared_model: PreparedModel, request: Request, options: ExecutionOptions
) -> Run:
    times = {"loop_timeout": options.loop_timeout, "deadline": options.deadline}
    return lambda: synchronous(prepared_model, request, measure=options.measure, **times)


def _bind_asynchronous(
    context: Surroundings, prepared_model: PreparedModel, request: Request, options: ExecutionOptions
) -> Run:
    times = {"loop_timeout": options.loop_timeout, "deadline": options.deadline}
    return lambda: asynchronous(context, prepared_model, request, measure=options.measure, **times)


def _bind_with_config(
    context: Surroundings, prepared_model: PreparedModel, request: Request, options: ExecutionOptions
) -> Run:
    config = config_of(options)
    return lambda: answer_of(
        lambda: prepared_model.execute_synchronously_with_config(request, config, options.deadline)
    )


def _bind_reusable(
    context: Surroundings,
    prepared_model: PreparedModel,
    request: Request,
    options: ExecutionOptions,
    executor: str = "reusable",
) -> Run:
    """A request may be rejected when bound, or at each execution (NNHAL-EXECUTE-015). executor: see run_reusable."""
    try:
        reusable = reusable_execution(context, prepared_model, request, config_of(options))
    except ServiceError as error:
        rejected = Execution(error.status, (), None)
        return lambda: rejected
    return lambda: run_reusable(context, reusable, executor, options)


def run_reusable(
    context: Surroundings, reusable: ReusableExecution, executor: str, options: ExecutionOptions
) -> Execution:
    """Run a reusable execution once; with executor `reusable_fenced` without wait fences, and its end is waited for.

    options: those with which it was made; deadline and duration are of this run.
    """
    if executor == "reusable":
        return answer_of(lambda: reusable.execute_synchronously(options.deadline))
    try:
        result = reusable.execute_fenced((), options.deadline, options.duration)
    except ServiceError as error:
        return Execution(error.status, (), None)
    checks.that(result.callback is not None, "executeFenced with status NONE: expected a callback, found null")
    launched = launching.Launched(ErrorStatus.NONE, result.callback, result.sync_fence)
    return launching.execution_of(context, launched, measured=options.measure)


def _bind_burst(
    context: Surroundings,
    prepared_model: PreparedModel,
    request: Request,
    options: ExecutionOptions,
    *,
    with_config: bool = False,
) -> Run:
    """A burst of its own; it gets the memory's names, so that a second run may know the memory already."""
    if not context.version.is_aidl and any(pool.pool is None for pool in request.pools):
        raise NotApplicable("HIDL's packets cannot name memory of the device")
    burst = Burst(context, prepared_model)
    return lambda: burst.execute(request, options=options, with_config=with_config)


def _bind_fenced(
    context: Surroundings,
    prepared_model: PreparedModel,
    request: Request,
    options: ExecutionOptions,
    *,
    with_config: bool = False,
) -> Run:
    """Without wait fences; the end is waited for."""
    form = launching.WITH_CONFIG if with_config else launching.PLAIN
    fenced = launching.fenced_options(options, form)

    def run() -> Execution:
        launched = launching.launch(context, prepared_model, request, options=fenced)
        return launching.execution_of(context, launched, measured=options.measure)

    return run


EXECUTORS: Mapping[str, Executor] = {
    "synchronous": Executor(_bind_synchronous, since=Version.V1_2),
    "asynchronous": Executor(_bind_asynchronous, until=HIDL_LAST),
    "burst": Executor(_bind_burst, since=Version.V1_2, loop_timeout_since=Version.FL5),
    "fenced": Executor(_bind_fenced, since=Version.V1_3, finds_shapes=False),
    "synchronous_with_config": Executor(_bind_with_config, since=Version.FL8),
    "burst_with_config": Executor(functools.partial(_bind_burst, with_config=True), since=Version.FL8),
    "fenced_with_config": Executor(
        functools.partial(_bind_fenced, with_config=True), since=Version.FL8, finds_shapes=False
    ),
    "reusable": Executor(_bind_reusable, since=Version.FL8),
    "reusable_fenced": Executor(
        functools.partial(_bind_reusable, executor="reusable_fenced"), since=Version.FL8, finds_shapes=False
    ),
}
"""Every executor by the name that it has in configurations, the usual ones first."""
