"""Load: several executions at once, of one app and of several, with every priority.

Priority is no guarantee and a device may serve in any order. What must hold: every call is answered, what succeeds is
right to the last bit, and priorities order the executions of one app only.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, ExecutionRecorder, synchronous, timing_rules
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, NO_LOOP_TIMEOUT, OutputShape, Timing
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import Pair
from npu_conformance.vts.lib.chain import LONG, SHORT, Runner, longest
from npu_conformance.vts.lib.deadlines import LATE, PERSISTENT, deadline, seconds_in_driver
from npu_conformance.vts.lib.load import is_too_much, succeeds_or_is_too_much, under_load

cases = CaseGroup("vts.quality_of_service", group=Group.EXECUTION)

_ONE_APP, _ANOTHER_APP = 10101, 10102
_STARTS: Sequence[Pair] = tuple((float(number), number - 2.0) for number in range(-18, 0, 2))
_PRIORITIES = (Priority.LOW, Priority.HIGH, Priority.MEDIUM) * 3
_ROUNDS, _MOST_ROUNDS = 3, 30
_MICROSECOND = 1e-6
_PATIENCE = 16
"""So many executions of another app may overtake one before that is worth a warning."""


@cases.case("load.preempted_result", "NNHAL-QOS-014", "NNHAL-QOS-013", "NNHAL-QOS-016", since=Version.V1_3)
def preempted_result(context: CaseContext) -> None:
    """A long execution of low priority gives the same result, bit for bit, while urgent ones of its app come and go."""
    low = Runner(context, longest(context, LONG), _STARTS[0], Priority.LOW, context.application(_ONE_APP))
    high = _runners(context, _ONE_APP, Priority.HIGH, 2)
    interrupted = 0
    for _ in range(_MOST_ROUNDS):
        with under_load(high) as load:
            load.wait_for_executions(1)
            before = load.executions
            _succeeds_or_is_too_much(context, low.execute(), "a long execution under load")
            interrupted += load.executions > before
        if interrupted >= _ROUNDS:
            break
    checks.status(low.execute().status, {ErrorStatus.NONE}, "the same execution when the load is gone")


@cases.case("load.priorities", "NNHAL-PREPARE-011", "NNHAL-QOS-014", since=Version.V1_3)
def priorities(context: CaseContext) -> None:
    """Executions of all three priorities at the same time are each answered, with their own result."""
    runners = [
        Runner(context, longest(context, SHORT * 2), start, priority, context.application(_ONE_APP))
        for start, priority in zip(_STARTS, Priority, strict=False)
    ]
    with ThreadPoolExecutor(len(runners)) as pool:
        for _ in range(_ROUNDS):
            for future in [pool.submit(runner.execute) for runner in runners]:
                _succeeds_or_is_too_much(context, future.result(), "one of three executions at once")


@cases.case("load.apps", "NNHAL-QOS-009", "NNHAL-QOS-011", "NNHAL-QOS-013", since=Version.V1_3)
def apps(context: CaseContext) -> None:
    """An app that executes with high priority all the time does not keep another one from executing.

    Priorities mean nothing between apps, whose names are their uids. A warning where a low one of another app is
    rejected, or overtaken again and again.
    """
    own = Runner(context, longest(context, SHORT), _STARTS[0], Priority.LOW, context.application(_ONE_APP))
    others = _runners(context, _ANOTHER_APP, Priority.HIGH, 5, LONG // 2)
    with under_load(others) as load:
        load.wait_for_executions(len(others))
        own.forget()
        before = load.executions
        execution = synchronous(own.prepared_model, own.request, measure=False)
        overtaken = load.executions - before
    status = execution.status
    succeeds_or_is_too_much(context, status, "execution while another app executes")
    if status == ErrorStatus.NONE:
        own.check_output()
    else:
        context.warn_quality(f"an app is rejected while another one executes: {status_name(status)}")
    if overtaken > _PATIENCE:
        context.warn_quality(f"{overtaken} executions of another app overtook one that was launched before them")


@cases.case("load.deadlines", "NNHAL-QOS-003", "NNHAL-QOS-005", "NNHAL-QOS-016", "NNHAL-ERROR-004", since=Version.V1_3)
def deadlines(context: CaseContext) -> None:
    """A deadline that the load alone makes a device miss is missed in passing: without load the call succeeds."""
    runner = Runner(context, longest(context, SHORT), _STARTS[0], Priority.LOW, context.application(_ONE_APP))
    with under_load(_runners(context, _ONE_APP, Priority.HIGH, 5, LONG // 2)) as load:
        load.wait_for_executions(1)
        busy = [runner.execute(deadline=deadline("soon", context.version)).status for _ in range(_ROUNDS)]
    idle = [runner.execute(deadline=deadline("soon", context.version)).status for _ in range(_ROUNDS)]
    for status in busy:
        if not is_too_much(context, status):
            checks.status(status, LATE, "execution with a deadline in 20 ms beside others")
    for status in idle:
        checks.status(status, LATE, "execution with a deadline in 20 ms")
    missed = [status for status in busy if status != ErrorStatus.NONE]
    # One alone may really have been past when it arrived.
    if len(missed) > 1 and PERSISTENT.issuperset(missed) and set(idle) == {ErrorStatus.NONE}:
        found = status_name(missed[0])
        context.warn_quality(f"{found} under load, though the same call succeeds without: TRANSIENT tells more")
    checks.status(runner.execute().status, {ErrorStatus.NONE}, "execution when the load is gone")


@cases.case(
    "load.asynchronous",
    "NNHAL-QOS-014",
    "NNHAL-QOS-016",
    "NNHAL-ERROR-002",
    "NNHAL-EXECUTE-003",
    "NNHAL-TIMING-007",
    until=HIDL_LAST,
)
def asynchronous(context: CaseContext) -> None:
    """Executions that are launched one upon the other: each notifies once, with its own result, in legal statuses.

    The times that it reports include the waiting for the others; a warning where they are hardly any of it.
    """
    chain = longest(context, SHORT * 4)
    runners = [
        Runner(context, chain, start, Priority.MEDIUM if context.version < Version.V1_3 else priority)
        for start, priority in zip(_STARTS, _PRIORITIES, strict=True)
    ]
    alone, oddities = _quickest_alone(context, runners[0]), []
    for _ in range(_ROUNDS):
        launched = [_launch(context, runner) for runner in runners]
        for one in launched:
            _ended(context, one)
        _notified_once(context, launched)
        oddities.append(_odd_time(context, alone, max(launched, key=lambda one: one.recorder.ended)))
    # A client that was held up itself sees an odd time once, not again.
    odd = [one for one in oddities if one]
    if 2 * len(odd) > _ROUNDS:
        context.warn_quality(odd[0])
    for runner in runners:
        status = runner.execute(executor="asynchronous").status
        checks.status(status, {ErrorStatus.NONE}, "the same execution when the load is gone")


def _runners(context: CaseContext, uid: int, priority: int, count: int, additions: int = SHORT) -> list[Runner]:
    """Runners of one app, each over a connection of its own."""
    chain = longest(context, additions)
    return [Runner(context, chain, start, priority, context.application(uid)) for start in _STARTS[1 : 1 + count]]


def _succeeds_or_is_too_much(context: CaseContext, execution: Execution, what: str) -> None:
    """No deadline was given, so none was missed; that there is too much to do is reported as TRANSIENT."""
    succeeds_or_is_too_much(context, execution.status, what)
    if execution.status in PERSISTENT:
        context.warn_quality(f"{what}: {status_name(execution.status)}, though it succeeds alone: TRANSIENT tells more")


class _Stopwatch(ExecutionRecorder):
    """A callback that also keeps when it was notified."""

    def __init__(self) -> None:
        super().__init__()
        self.started = time.monotonic()
        self.ended = 0.0

    def notify(self, status: int, output_shapes: tuple[OutputShape, ...], timing: Timing | None) -> None:
        """Keep the answer and the time."""
        self.ended = time.monotonic()
        super().notify(status, output_shapes, timing)


@dataclass(frozen=True, slots=True)
class _Launched:
    """An asynchronous execution on its way. launch_status: what the call returned."""

    runner: Runner
    recorder: _Stopwatch
    launch_status: int

    @property
    def seconds(self) -> float:
        """How long its client waited."""
        return self.recorder.ended - self.recorder.started


def _launch(context: CaseContext, runner: Runner) -> _Launched:
    runner.forget()
    recorder, measured, status = _Stopwatch(), context.version >= Version.V1_2, int(ErrorStatus.NONE)
    try:
        runner.prepared_model.execute(runner.request, measured, NO_DEADLINE, NO_LOOP_TIMEOUT, recorder)
    except ServiceError as error:
        status = error.status
    return _Launched(runner, recorder, status)


def _ended(context: CaseContext, one: _Launched) -> None:
    """Wait for the answer of an execution, and judge it."""
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    if not context.subject.wait_until(lambda: bool(one.recorder.answers), seconds):
        raise Hung(f"execute was launched, but its callback was not notified within {seconds:g} s")
    execution = one.recorder.answers[0]
    if one.launch_status != ErrorStatus.NONE:
        checks.status(execution.status, {one.launch_status}, "status notified after a failed launch")
    _succeeds_or_is_too_much(context, execution, "an asynchronous execution beside others")
    timing_rules(context, execution, measured=True)
    if execution.status == ErrorStatus.NONE:
        one.runner.check_output()


def _quickest_alone(context: CaseContext, runner: Runner) -> _Launched:
    launched = []
    for _ in range(_ROUNDS):
        launched.append(_launch(context, runner))
        _ended(context, launched[-1])
    return min(launched, key=lambda one: one.seconds)


def _notified_once(context: CaseContext, launched: Sequence[_Launched]) -> None:
    """A round trip brings whatever the device has sent before."""
    context.device.get_status()
    context.subject.wait_until(lambda: any(len(one.recorder.answers) > 1 for one in launched), 0.0)
    for one in launched:
        with checks.about("NNHAL-EXECUTE-003"):
            checks.equal(len(one.recorder.answers), 1, "number of notifications of one execution")


def _odd_time(context: CaseContext, alone: _Launched, last: _Launched) -> str:
    """What is odd about the time in the driver of the execution that ended last, by its client's clock."""
    reported = seconds_in_driver(context.version, last.recorder.answers[0])
    if reported is None:
        return ""
    if reported > last.seconds + _MICROSECOND:
        return f"timeInDriver is {reported:.6f} s: the execution took its client {last.seconds:.6f} s"
    if last.seconds > 2.5 * alone.seconds and reported < last.seconds / 2.5:
        took = f"took its client {last.seconds:.6f} s, and {alone.seconds:.6f} s alone"
        return f"timeInDriver is {reported:.6f} s, of an execution that {took}: is the waiting left out?"
    return ""
