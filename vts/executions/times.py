"""What an execution says of how long it took: only where it was asked, and in the unit of the version."""

from __future__ import annotations

import time

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions, timing_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS, MISSED, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.load import succeeds_or_is_too_much
from npu_conformance.vts.lib.loops import Loop
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import LOOP
from npu_conformance.vts.lib.sums import Sum, sum_of

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_UNITS = ("NNHAL-TIMING-005", "NNHAL-TIMING-006")
_ROUNDS, _CALLERS = 400, 4
_NOTICEABLE = 5_000_000
"""Nanoseconds by which the longer loop has to be longer, to say anything."""
_FAR_OFF = 100
"""Microseconds and nanoseconds differ by a thousand; what the harness measures beside is off by less than this."""


@cases.case("times.only_where_asked", "NNHAL-TIMING-001", "NNHAL-TIMING-004", *_UNITS, since=Version.V1_2)
def only_where_asked(context: CaseContext) -> None:
    """Times are reported where they were asked for, by each executor, also when every other execution asks."""
    chosen = addition.supported(context)
    prepared_model, asked = chosen.prepared(context), sum_of(context, chosen)
    for executor in executors(context.version):
        with context.configuration(executor):
            _ask_every_other_time(context, prepared_model, asked, executor)


@cases.case("times.longer_than_the_call", *_UNITS, since=Version.V1_2)
def longer_than_the_call(context: CaseContext) -> None:
    """The reported time is not longer than the caller waited; a longer one, or a wrong unit, is a quality warning.

    It is no failure: times of a simulator may be those of the device that it simulates.
    """
    chosen = addition.supported(context)
    prepared_model, asked = chosen.prepared(context), sum_of(context, chosen)
    for executor in executors(context.version):
        with context.configuration(executor):
            reported, elapsed = _measure(context, prepared_model, asked.request, executor)
            if reported is not None and reported > elapsed:
                context.warn_quality(f"timeInDriver is {reported} ns, and the whole call took {elapsed} ns")


@cases.case("times.of_long_work", *_UNITS, since=Version.V1_3)
def of_long_work(context: CaseContext) -> None:
    """The times of a short and a long loop differ as the caller sees it; a tiny part of that is a quality warning."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    short, long = (_loop(context, prepared_model, rounds) for rounds in (1, _ROUNDS))
    if short[0] is None or long[0] is None:
        return
    reported, seen = long[0] - short[0], long[1] - short[1]
    if seen > _NOTICEABLE and reported * _FAR_OFF < seen:
        context.warn_quality(
            f"timeInDriver of a longer loop is {reported} ns more, and its caller waited {seen} ns more"
        )


@cases.case("times.of_callers_that_wait", *_UNITS, "NNHAL-TIMING-004", "NNHAL-TIMING-007", since=Version.V1_3)
def of_callers_that_wait(context: CaseContext) -> None:
    """Executions that wait for each other report durations, of which the device's is within the driver's."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    options = ExecutionOptions(measure=True, loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS)
    requests = [Loop(context, _ROUNDS).request for _ in range(_CALLERS)]
    executions = context.run_concurrently([bind(context, prepared_model, one, options) for one in requests])
    for execution in executions:
        if isinstance(execution, BaseException):
            raise execution
        if execution.status not in MISSED:
            succeeds_or_is_too_much(context, execution.status, "measured execution beside others")
        timing_rules(context, execution, measured=True)


def _ask_every_other_time(context: CaseContext, prepared_model: PreparedModel, asked: Sum, executor: str) -> None:
    """Two that are bound take turns. Behind it they are gone: a device may have room for no more of them."""
    runs = {
        measured: bind(context, prepared_model, asked.request, ExecutionOptions(measure=measured), executor)
        for measured in (True, False)
    }
    for measured in (False, True, False):
        execution = runs[measured]()
        with checks.about("NNHAL-EXECUTE-008"):
            asked.check(execution, "execution")
        timing_rules(context, execution, measured=measured)


def _loop(context: CaseContext, prepared_model: PreparedModel, rounds: int) -> tuple[int | None, int]:
    """Execute a loop of so many rounds; returns the shortest of three times, as reported and as seen by the caller."""
    request = Loop(context, rounds).request
    measured = [_measure(context, prepared_model, request) for _ in range(3)]
    reported = [one for one, _ in measured if one is not None]
    return min(reported, default=None), min(elapsed for _, elapsed in measured)


def _measure(
    context: CaseContext, prepared_model: PreparedModel, request: Request, executor: str = ""
) -> tuple[int | None, int]:
    """Execute; returns timeInDriver in nanoseconds, None where it is unavailable, and what the caller measured."""
    options = ExecutionOptions(measure=True, loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS)
    run = bind(context, prepared_model, request, options, executor)
    started = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    execution = run()
    elapsed = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - started
    if execution.status in MISSED:
        raise NotApplicable("a loop takes longer than loops may take")
    checks.status(execution.status, {ErrorStatus.NONE}, "measured execution")
    timing_rules(context, execution, measured=True)
    if execution.timing is None or execution.timing.time_in_driver == context.version.unavailable_time:
        return None, elapsed
    return execution.timing.time_in_driver * (1 if context.version.is_aidl else 1000), elapsed
