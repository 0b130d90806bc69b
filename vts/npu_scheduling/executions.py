"""Executions of prepared models, where they are work of the scheduling HAL (npu_schedules_executions of the manifest).

AOSP's cts_npu_manager_test.py asks the first of it: an app without access completes no inference through NNAPI either.
"""

from __future__ import annotations

import time

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.npu.types import EndReason
from npu_conformance.vts.lib.chain import LONG, SHORT, Runner, longest
from npu_conformance.vts.lib.deadlines import LATE
from npu_conformance.vts.lib.load import under_load
from npu_conformance.vts.lib.npu_scheduling.events import UNDISTURBED
from npu_conformance.vts.lib.npu_scheduling.fixture import SLACK_MS, SchedulingFixture, config, scheduling_fixture

cases = CaseGroup("vts.npu_scheduling.executions", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_START = (-4.0, -6.0)
_WEAK_UIDS = range(10_211, 10_219)
_LOAD = 16
"""Executions of each of them."""
_FEW = 3
"""So many of them may end before a stronger one that came later: one was at it, others on their way."""
_MOST_TRIES = 10
_NOT_COMPLETE = (EndReason.FAILED, EndReason.CANCELLED_SYSTEM)
_DENIED = 150
"""Executions in vain: more than a queue of 128 holds."""


def _need_promise(npu: SchedulingFixture) -> None:
    if not npu.context.manifest.npu_schedules_executions:
        raise NotApplicable("the manifest does not say npu_schedules_executions")


def _runner(npu: SchedulingFixture, uid: int, additions: int) -> Runner:
    context = npu.context
    return Runner(context, longest(context, additions), _START, application=context.application(uid))


def _succeeds(runner: Runner, executor: str) -> bool:
    try:
        return runner.execute(executor=executor).status == ErrorStatus.NONE
    except SecurityDenied:
        return False


@cases.case("direct_access", "NPU-HAL-011")
def direct_access(context: CaseContext) -> None:
    """No executor succeeds for a uid whose config denies direct access; given again, access counts at once."""
    with scheduling_fixture(context) as npu:
        _need_promise(npu)
        runner = _runner(npu, npu.camera, SHORT)
        for executor in executors(context.version):
            npu.configure(config(npu.camera, 500, direct=False))
            what = f"{executor} execution of a uid without direct access: expected a rejection, found success"
            checks.that(not _succeeds(runner, executor), what)
            npu.configure(config(npu.camera, 500))
            status = runner.execute(executor=executor).status
            checks.status(status, {ErrorStatus.NONE}, f"{executor} execution once direct access is given again")


@cases.case("told", "NPU-HAL-019", "NPU-HAL-015", "NPU-HAL-013", "NPU-HAL-008", group=Group.SCHEDULING_EVENTS)
def notified(context: CaseContext) -> None:
    """An execution is notified as requested, started and complete, as work of the app that owns the model."""
    with scheduling_fixture(context) as npu:
        _need_promise(npu)
        runner = _runner(npu, npu.camera, LONG)
        npu.configure(config(npu.camera, 100))
        npu.pass_ms(npu.debounce_ms + SLACK_MS)  # what the runner has tried itself is over
        npu.register_recorder()
        checks.status(runner.execute().status, {ErrorStatus.NONE}, "execution")
        npu.settle()
        events = npu.expect_of(npu.camera, *UNDISTURBED)
        own = (npu.camera, -1) if context.manifest.npu_profile == "cuttlefish" else (npu.camera,)
        for event in events:
            checks.member(event.work.original_uid, own, "original uid of an execution")
            checks.equal(event.work.effective_priority, 100 + event.work.job_priority, "effective priority")


@cases.case("missed", "NPU-HAL-030", group=Group.SCHEDULING_EVENTS)
def missed(context: CaseContext) -> None:
    """An execution that misses its deadline ends as failed, or as cancelled by the system: not as complete."""
    with scheduling_fixture(context) as npu:
        _need_promise(npu)
        runner = _runner(npu, npu.camera, LONG)
        npu.configure(config(npu.camera, 100))
        npu.pass_ms(npu.debounce_ms + SLACK_MS)  # what the runner has tried itself is over
        npu.register_recorder()
        reasons = next(filter(None, (_reasons_of_missed(npu, runner) for _ in range(_MOST_TRIES))), None)
        if reasons is None:
            raise NotApplicable("the device misses no deadline of an execution that it has begun")
        checks.member(reasons[-1], _NOT_COMPLETE, "why an execution ended that missed its deadline")


def _reasons_of_missed(npu: SchedulingFixture, runner: Runner) -> list[int | None]:
    """Why work ended, while an execution had a third of the time that it takes; empty where it was done in time."""
    before = len(npu.events())
    end = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int(runner.seconds * 1e9 / 3)
    status = runner.execute(deadline=end).status
    checks.status(status, LATE, "execution with a deadline")
    npu.settle()
    ends = [event.reason for event in npu.events()[before:] if event.event_type == "ended"]
    return ends if status != ErrorStatus.NONE else []


@cases.case("denied_leave_nothing", "NPU-HAL-011", "NPU-HAL-019")
def denied_leave_nothing(context: CaseContext) -> None:
    """However many executions were denied, the next one of the app that has access again is done, and notified."""
    with scheduling_fixture(context) as npu:
        _need_promise(npu)
        runner = _runner(npu, npu.camera, SHORT)
        npu.configure(config(npu.camera, 500, direct=False))
        for _ in range(_DENIED):
            checks.that(
                not _succeeds(runner, executors(context.version)[0]),
                "execution of a uid without direct access: found success",
            )
        npu.configure(config(npu.camera, 500))
        npu.pass_ms(npu.debounce_ms + SLACK_MS)
        npu.register_recorder()
        checks.status(runner.execute().status, {ErrorStatus.NONE}, f"execution behind {_DENIED} that were denied")
        npu.settle()
        npu.expect_of(npu.camera, *UNDISTURBED)


@cases.case("order", "NPU-HAL-009", "NPU-HAL-037", "NPU-HAL-031")
def order(context: CaseContext) -> None:
    """An app in the foreground does not wait for all that apps in the background have launched before it.

    Theirs are many times as long as its own, so that it is done first also on a device with several units. What it
    interrupts is right to the last bit in the end. That it has been first once is enough, as a client may be held up.
    """
    with scheduling_fixture(context) as npu:
        _need_promise(npu)
        strong = _runner(npu, npu.camera, SHORT)
        weak = [_runner(npu, uid, LONG) for uid in _WEAK_UIDS]
        npu.configure(config(npu.camera, 100), *(config(uid, 1000) for uid in _WEAK_UIDS))
        overtaken: list[int] = []
        with under_load(weak, _LOAD) as load:
            load.wait_for_executions(len(weak))
            while len(overtaken) < _MOST_TRIES and min(overtaken[1:], default=_FEW + 1) > _FEW:
                before = load.executions
                checks.status(strong.execute().status, {ErrorStatus.NONE}, "execution of the app in the foreground")
                if load.is_over():
                    break
                overtaken.append(load.executions - before)
        if len(overtaken) < 2:
            raise NotApplicable("the executions in the background were over too soon")
        fewest = min(overtaken[1:])
        what = f"{fewest} or more executions of {len(weak)} apps in the background came before each of the foreground"
        checks.that(fewest <= _FEW, what)
