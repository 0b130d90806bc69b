"""Deadlines beside what they compute: their form, their clock, and what an aborted call answers and when."""

from __future__ import annotations

import time
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import NO_TOKEN, PreparationRecorder, model_of
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import MISSED, ErrorStatus, ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.types import NO_LOOP_TIMEOUT, ExecutionConfig, PrepareModelConfig
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.chain import LONG, SHORT, Runner, longest
from npu_conformance.vts.lib.deadlines import (
    LATE,
    LIMITED,
    PERSISTENT,
    UNLIMITED,
    check_execution,
    deadline,
    prepare_limited,
    seconds_in_driver,
    wait_until_over,
)
from npu_conformance.vts.lib.rejection import asked_by_text_alone
from npu_conformance.vts.lib.sums import sum_of

cases = CaseGroup("vts.quality_of_service", group=Group.EXECUTION)

_START = (-20.0, -18.0)
_INVALID = frozenset({ErrorStatus.INVALID_ARGUMENT})
_NO_CACHE = frozenset({ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT})
_BELOW_NONE = {"minus_2": -2, "smallest": -(2**63)}
_ATTEMPTS = 3
_PARTS = {"at_once": 0.0, "soon": 0.25, "later": 0.5}
"""When the deadline is, in parts of the time that an execution takes without one."""
_WHOLE = 2.0
"""So many times that one longer is watched, as whoever goes on may begin anew."""
_NOTICEABLE_SECONDS = 0.003
"""A shorter execution tells nothing about when an abort comes."""


@cases.case(
    "deadline.executions", "NNHAL-QOS-002", "NNHAL-QOS-003", "NNHAL-QOS-005", "NNHAL-QOS-006", "NNHAL-QOS-007",
    "NNHAL-QOS-015", "NNHAL-ERROR-003", since=Version.V1_3,
)  # fmt: skip
def executions(context: CaseContext) -> None:
    """Executions take every kind of deadline; one in an hour, in nanoseconds of the right clock, is not missed."""
    runner = Runner(context, longest(context, SHORT), _START)
    for executor in executors(context.version):
        for name in (*LIMITED, *UNLIMITED):
            with context.configuration(f"{executor}.{name}"):
                time_point = deadline(name, context.version)
                execution = runner.execute(deadline=time_point, measure=True, executor=executor)
                check_execution(context, execution, name)
                _warn_of_hope(context, name, execution.status, "execution")


@cases.case(
    "deadline.preparations", "NNHAL-QOS-002", "NNHAL-QOS-003", "NNHAL-QOS-004", "NNHAL-QOS-006", "NNHAL-QOS-007",
    "NNHAL-QOS-015", "NNHAL-ERROR-003", since=Version.V1_3,
)  # fmt: skip
def preparations(context: CaseContext) -> None:
    """Preparations with every kind of deadline are launched; a missed one is reported by the callback alone."""
    model = longest(context, SHORT).model()
    for name in (*LIMITED, *UNLIMITED):
        with context.configuration(name):
            preparation = prepare_limited(context, model, name)
            _warn_of_hope(context, name, preparation.status, "preparation")


@cases.case("deadline.from_cache", "NNHAL-QOS-015", "NNHAL-QOS-003", since=Version.V1_3)
def from_cache(context: CaseContext) -> None:
    """Preparation from no cache files fails with every kind of deadline, and misses none that has not passed.

    A device that wants files finds their number wrong; one that caches nothing fails. See vts.caching for the rest.
    """
    for name in (*LIMITED, *UNLIMITED):
        with context.configuration(name):
            reported = _from_cache(context, deadline(name, context.version))
            expected = {*_NO_CACHE, *(LATE - {ErrorStatus.NONE} if name in LIMITED else ())}
            for status in reported:
                checks.status(status, expected, f"prepareModelFromCache with the deadline '{name}'")


@cases.case("deadline.of_the_preparation", "NNHAL-QOS-002", "NNHAL-QOS-004", since=Version.V1_3)
def of_the_preparation(context: CaseContext) -> None:
    """What a preparation was limited by limits no execution: its deadline is over, and those without one succeed.

    Nor does a deadline that was missed count when the model is prepared again.
    """
    chosen = addition.supported(context)
    asked, model = sum_of(context, chosen), chosen.model()
    for name in ("past", "soon"):
        with context.configuration(name):
            limit = deadline(name, context.version)
            limited = context.prepare(model, deadline=limit)
            with checks.about("NNHAL-QOS-003"):
                checks.status(limited.status, LATE, f"preparation with the deadline '{name}'")
            again = model_of(context.prepare(model), "prepareModel of the same model without a deadline, notified")
            wait_until_over(context, limit)
            for prepared_model in filter(None, (limited.prepared_model, again)):
                for executor in executors(context.version):
                    asked.clear()
                    execution = execute(context, prepared_model, asked.request, measure=False, executor=executor)
                    asked.check(execution, f"{executor} execution without a deadline, after the preparation's is over")


@cases.case("deadline.below_none", "NNHAL-QOS-008", "NNHAL-QOS-007", since=Version.FL5)
def below_none(context: CaseContext) -> None:
    """A deadline below -1 is rejected with INVALID_ARGUMENT by every call that takes one.

    A preparation from no cache files fails anyhow, and may do so first; vts.caching asks with files.
    """
    runner = Runner(context, longest(context, SHORT), _START)
    for call, make in _calls(context, runner).items():
        allowed = _NO_CACHE if call == "prepareModelFromCache" else _INVALID
        for name, value in _BELOW_NONE.items():
            with context.configuration(f"{call}.{name}"):
                checks.raises_status(lambda: make(value), allowed, f"{call} with deadline {value} ns")  # noqa: B023
    with context.configuration("afterwards"), checks.about("NNHAL-ERROR-008"):
        checks.status(runner.execute().status, {ErrorStatus.NONE}, "execution after rejected deadlines")


@cases.case("deadline.abort_is_early", "NNHAL-QOS-019", "NNHAL-QOS-003", "NNHAL-QOS-005", since=Version.V1_3)
def abort_is_early(context: CaseContext) -> None:
    """A long execution that its deadline aborts should be over earlier than without one; a warning where it is not."""
    runner = Runner(context, longest(context, LONG), _START)
    whole, whole_seconds = _quickest(context, runner, "none")
    aborted, seconds = _quickest(context, runner, "now")
    in_driver = seconds_in_driver(context.version, whole)
    if aborted.status not in MISSED or in_driver is None or in_driver < _NOTICEABLE_SECONDS:
        return
    # The time that a call takes beside the execution is not the abort's.
    if seconds > whole_seconds - in_driver / 4:
        context.warn_quality(f"aborted after {seconds:.3f} s; the whole execution takes {whole_seconds:.3f} s")


@cases.case("deadline.abort_is_final", "NNHAL-EXECUTE-006", "NNHAL-QOS-003", "NNHAL-QOS-005", since=Version.V1_3)
def abort_is_final(context: CaseContext) -> None:
    """An execution that its deadline has ended writes no more: its client has other things in that memory by then.

    Behind a fence in error that is a quality warning, since documents say it of a signal alone (NNHAL-FENCED-007).
    """
    runner = Runner(context, longest(context, LONG), _START)
    for executor in executors(context.version):
        for name, part in _PARTS.items():
            with context.configuration(f"{executor}.{name}"):
                end = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int(part * runner.seconds * 1e9)
                execution = runner.execute(deadline=end, measure=True, executor=executor)
                check_execution(context, execution, "soon")
                if execution.status != ErrorStatus.NONE:
                    runner.forget()
                    with asked_by_text_alone(context, when="fenced" in executor):
                        runner.check_untouched(_WHOLE * runner.seconds, "execution that its deadline has ended")


def _quickest(context: CaseContext, runner: Runner, name: str) -> tuple[Execution, float]:
    """The quickest of some executions with a deadline: what came back, and after how many seconds."""
    return min((_timed(context, runner, name) for _ in range(_ATTEMPTS)), key=lambda one: one[1])


def _timed(context: CaseContext, runner: Runner, name: str) -> tuple[Execution, float]:
    runner.forget()
    started = time.monotonic()
    execution = execute(
        context, runner.prepared_model, runner.request, measure=True, deadline=deadline(name, context.version)
    )
    seconds = time.monotonic() - started
    check_execution(context, execution, name)
    if execution.status == ErrorStatus.NONE:
        runner.check_output()
    return execution, seconds


def _warn_of_hope(context: CaseContext, name: str, status: int | None, what: str) -> None:
    """An idle device misses a past deadline again: TRANSIENT promises too much (NNHAL-QOS-017, NNHAL-ERROR-004)."""
    if name == "past" and status not in (ErrorStatus.NONE, *PERSISTENT):
        reported = "nothing" if status is None else status_name(status)
        context.warn_quality(f"{what} with a deadline long past: {reported}, where a PERSISTENT status tells more")


def _from_cache(context: CaseContext, deadline_ns: int) -> list[int]:
    """What the call returned, and what it notified."""
    recorder = PreparationRecorder()
    launched: int = ErrorStatus.NONE
    try:
        context.device.prepare_model_from_cache(deadline_ns, (), (), NO_TOKEN, recorder)
    except ServiceError as error:
        launched = error.status
    seconds = context.manifest.deadlines.prepare * context.manifest.time_scale
    context.subject.wait_until(lambda: bool(recorder.answers), seconds)
    checks.equal(len(recorder.answers), 1, "number of notifications of prepareModelFromCache")
    ((notified, prepared_model),) = recorder.answers
    checks.that(prepared_model is None, "a prepared model came from a cache that does not exist")
    return [notified] if launched == ErrorStatus.NONE else [launched, notified]


def _calls(context: CaseContext, runner: Runner) -> dict[str, Callable[[int], object]]:
    """Every call of the device and of a prepared model that takes a deadline, made with one."""
    device, prepared_model, request = context.device, runner.prepared_model, runner.request
    model = longest(context, SHORT).model()
    preference, priority = ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM
    calls: dict[str, Callable[[int], object]] = {
        "prepareModel": lambda value: device.prepare_model(
            model, preference, priority, value, (), (), NO_TOKEN, PreparationRecorder()
        ),
        "prepareModelFromCache": lambda value: device.prepare_model_from_cache(
            value, (), (), NO_TOKEN, PreparationRecorder()
        ),
        "executeSynchronously": lambda value: prepared_model.execute_synchronously(
            request, False, value, NO_LOOP_TIMEOUT
        ),
    }
    if context.version >= Version.FL8:
        config = ExecutionConfig(False, NO_LOOP_TIMEOUT)
        calls["prepareModelWithConfig"] = lambda value: device.prepare_model_with_config(
            model, PrepareModelConfig(preference, priority, value, (), (), NO_TOKEN), PreparationRecorder()
        )
        calls["executeSynchronouslyWithConfig"] = lambda value: prepared_model.execute_synchronously_with_config(
            request, config, value
        )
    return calls
