"""Ends other than completion, each with its own reason (NPU-HAL-030)."""

from __future__ import annotations

import functools
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.apps import App, asked
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    FAILED,
    PAUSED,
    REQUESTED,
    STARTED,
    SYSTEM,
    UNDISTURBED,
    USER,
    Event,
    Notification,
    events_of,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.runs import INTO_WORK_MS, Run

cases = CaseGroup("vts.npu_scheduling.ends", interface="scheduling", group=Group.SCHEDULING_EVENTS)

End = Callable[[SchedulingFixture, App], None]
Check = Callable[[CaseContext, End, Notification], None]
_SOON_MS = (1, 12, 30)
"""How soon after a pause work is ended."""


def _by_user(npu: SchedulingFixture, app: App) -> None:
    app.cancel()


def _by_system(npu: SchedulingFixture, app: App) -> None:
    control = npu.control()
    asked(lambda: control.cancel_work(app.uid), "cancelWork")


def _by_failure(npu: SchedulingFixture, app: App) -> None:
    control = npu.control()
    asked(lambda: control.fail_work(app.uid), "failWork")


_ENDS: dict[str, tuple[End, Notification]] = {
    "cancelled_by_user": (_by_user, USER),
    "cancelled_by_system": (_by_system, SYSTEM),
    "failed": (_by_failure, FAILED),
}


def _ended_early(npu: SchedulingFixture, app: App, end: End) -> None:
    """Start a run, and end it once it goes on."""
    run = _going_on(npu, app)
    npu.need_running(run)
    end(npu, app)
    npu.is_ended(run)


def _going_on(npu: SchedulingFixture, app: App) -> Run | ToolRun:
    """Start a run, and let it begin and go on."""
    seen = len(app.received())
    run = app.start()
    npu.let_begin(app, run, seen)
    npu.pass_ms(15)
    return run


def _three_going_on(npu: SchedulingFixture, app: App) -> list[Run | ToolRun]:
    """The same with three runs at once, or two where the HAL has no room for three."""
    seen = len(app.received())
    runs = [app.start_if_there_is_room() for _ in range(3)]
    npu.let_begin(app, runs[0], seen)
    return npu.with_room(runs, within_ms=15)


def _has_its_reason(context: CaseContext, end: End, notification: Notification) -> None:
    """Work that ends early ends with its own reason, and the run has no success."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        _ended_early(npu, camera, end)
        npu.settle()
        npu.expect(camera, REQUESTED, STARTED, notification)


def _then_works(context: CaseContext, end: End, notification: Notification) -> None:
    """Work after an early end is undisturbed, and a burst of its own."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        _ended_early(npu, camera, end)
        npu.settle()
        camera.works()
        npu.settle()
        npu.expect(camera, REQUESTED, STARTED, notification, *UNDISTURBED)


def _is_last(context: CaseContext, end: End, notification: Notification) -> None:
    """A burst that begins with completed work and ends with other work has the reason of the last."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        npu.succeeds(camera.start(), "inferences", step_ms=1)
        npu.pass_ms(10)
        run = camera.start()
        npu.pass_ms(15)
        end(npu, camera)
        npu.end_of(run)
        npu.settle()
        npu.expect(camera, REQUESTED, STARTED, notification)


def _is_first(context: CaseContext, end: End, notification: Notification) -> None:
    """A burst whose first work ends early and whose last completes is completed."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        run = _going_on(npu, camera)
        end(npu, camera)
        npu.end_of(run, step_ms=1)
        npu.pass_ms(10)
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


def _leaves_others(context: CaseContext, end: End, notification: Notification) -> None:
    """What ends the work of one uid does not disturb that of another."""
    with scheduling_fixture(context) as npu:
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.configure(config(camera.uid, 100), config(assistant.uid, 400))
        npu.register_recorder()
        other = assistant.start()
        npu.pass_ms(5)
        _ended_early(npu, camera, end)
        npu.succeeds(other, "inferences of the other uid")
        npu.settle()
        npu.expect(camera, REQUESTED, STARTED, notification)


def _while_waiting(context: CaseContext, end: End, notification: Notification) -> None:
    """Work that ends before it has started has no start. Where it did start, which no rule forbids, it has one."""
    with scheduling_fixture(context) as npu:
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.configure(config(camera.uid, 100), config(assistant.uid, 400))
        npu.register_recorder()
        strong = camera.start_on_first()
        npu.wait(lambda: STARTED in camera.received(), "start of the stronger inferences", step_ms=1)
        weak = assistant.start_on_first()
        npu.pass_ms(15)
        npu.need_running(strong)
        started = [STARTED] if STARTED in assistant.received() else []
        end(npu, assistant)
        npu.is_ended(weak)
        npu.succeeds(strong, "the stronger inferences")
        npu.settle()
        npu.expect(assistant, REQUESTED, *started, notification)


def _ends_all(context: CaseContext, end: End, notification: Notification) -> None:
    """Where a uid has several works, of one process or of two, all of them end, and the burst with that reason."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        runs = _three_going_on(npu, camera)
        for run in runs:
            npu.need_running(run)
        end(npu, camera)
        for run in runs:
            checks.that(not npu.end_of(run), "one of several inferences that were ended: expected no success")
        npu.settle()
        npu.expect(camera, REQUESTED, STARTED, notification)


def _near_its_end(context: CaseContext, end: End, notification: Notification) -> None:
    """A run has success only where its last inference is complete too: not where something else ends that one."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works(step_ms=1)
        whole_ms = npu.passed_ms
        for left_ms in (2, whole_ms // 20, whole_ms // 5, whole_ms // 2):
            npu.settle()
            run = camera.start()
            npu.pass_ms(whole_ms - left_ms)
            if run.succeeded is None:
                end(npu, camera)
            succeeded = npu.end_of(run)
            npu.settle()
            told = camera.received()[-1:]
            what = f"a run that was to be ended {left_ms} ms before its end, whose last event is {told}"
            checks.that(not succeeded or told == [COMPLETED], f"{what}: expected no success, found success")


def _while_paused(context: CaseContext, end: End, notification: Notification) -> None:
    """Work that ends while stronger work has it paused ends with its own reason, and the stronger goes on."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        run = weak.start_on_first()
        npu.pass_ms(INTO_WORK_MS)
        interrupting = strong.start_on_first()
        npu.wait(lambda: PAUSED in weak.received() or interrupting.succeeded is not None, "pause", step_ms=1)
        if PAUSED not in weak.received():
            raise NotApplicable("the weaker work waits between two inferences and is not paused")
        end(npu, weak)
        checks.that(not npu.end_of(run), "inferences that were ended while paused: expected no success, found success")
        npu.succeeds(interrupting, "inferences of the stronger app")
        npu.settle()
        checks.equal(weak.received()[-1], notification, "the last event of work that was ended while paused")


def _soon_after_a_pause(context: CaseContext, end: End, notification: Notification) -> None:
    """Work that ends before its pause is old enough to be told ends with its own reason all the same."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for soon_ms in _SOON_MS:
            seen = len(weak.events())
            run = weak.start_on_first()
            npu.pass_ms(INTO_WORK_MS)
            interrupting = _started(npu, strong)
            npu.pass_ms(soon_ms)
            npu.need_running(run)
            end(npu, weak)
            checks.that(not npu.end_of(run), "inferences that were ended while paused: expected no success")
            npu.succeeds(interrupting, "inferences of the stronger app")
            npu.settle()
            events = weak.events()[seen:]
            _need_short_pauses(npu, events)
            told = without_pauses([event.notification for event in events])
            what = f"events of work that was ended {soon_ms} ms after stronger work had started"
            checks.equal(told, [REQUESTED, STARTED, notification], what)


def _started(npu: SchedulingFixture, app: App) -> Run | ToolRun:
    """Start a run, and let time pass until that is told."""
    seen = len(app.received())
    run = app.start_on_first()
    npu.wait(lambda: STARTED in app.received()[seen:], "start of the stronger inferences", step_ms=1)
    return run


def _need_short_pauses(npu: SchedulingFixture, events: list[Event]) -> None:
    """NotApplicable where work was paused so long before the stronger started that its pause was due at its end."""
    for event in events_of(events, PAUSED):
        if events[-1].work.timestamp_ms - event.work.timestamp_ms >= npu.debounce_ms:
            raise NotApplicable("the weaker work is paused long before the stronger starts")


_ABOUT = (
    ("", ("NPU-HAL-030",), _has_its_reason),
    ("_then_works", ("NPU-HAL-030", "NPU-HAL-019"), _then_works),
    ("_last", ("NPU-HAL-024", "NPU-HAL-030"), _is_last),
    ("_first", ("NPU-HAL-024", "NPU-HAL-030"), _is_first),
    ("_ends_all", ("NPU-HAL-030", "NPU-HAL-025"), _ends_all),
    ("_leaves_others", ("NPU-HAL-030", "NPU-HAL-026"), _leaves_others),
    ("_near_its_end", ("NPU-HAL-030", "NPU-HAL-019"), _near_its_end),
    ("_while_waiting", ("NPU-HAL-030", "NPU-HAL-023"), _while_waiting),
    ("_while_paused", ("NPU-HAL-030", "NPU-HAL-031"), _while_paused),
    ("_soon_after_a_pause", ("NPU-HAL-030", "NPU-HAL-031", "NPU-HAL-041"), _soon_after_a_pause),
)
"""What is asked of each end: behind its name, the requirements, and how."""


def _declare(name: str, end: End, notification: Notification, check: Check, requirements: tuple[str, ...]) -> None:
    @cases.case(name, *requirements)
    @functools.wraps(check)
    def run(context: CaseContext) -> None:
        check(context, end, notification)


for _name, (_end, _notification) in _ENDS.items():
    for _suffix, _requirements, _check in _ABOUT:
        _declare(f"{_name}{_suffix}", _end, _notification, _check, _requirements)


@cases.case("cancelled_leaves_work_for_the_canceller", "NPU-HAL-030", "NPU-HAL-015")
def cancelled_leaves_work_for_the_canceller(context: CaseContext) -> None:
    """Who cancels ends what it has submitted itself, not what another uid has submitted on its behalf."""
    with scheduling_fixture(context) as npu:
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.configure(config(camera.uid, 100), config(assistant.uid, 400, attribute=True))
        run = assistant.start(InferenceRun(original_uid=camera.uid))
        npu.pass_ms(15)
        npu.need_running(run)
        camera.cancel()
        npu.succeeds(run, "inferences for the uid that cancels")


@cases.case("nothing_to_cancel", "NPU-HAL-030")
def nothing_to_cancel(context: CaseContext) -> None:
    """Ending the work of a uid that has none causes no event."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.cancel()
        npu.settle()
        npu.expect(camera)


@cases.case("before_its_start", "NPU-HAL-023", "NPU-HAL-025")
def before_its_start(context: CaseContext) -> None:
    """Where work ends before it starts, no start of later work of its burst is told in its place."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        strong.start_on_first()
        npu.pass_ms(1)
        weak.start_on_first(InferenceRun(job_priority=1))
        weak.cancel()
        weak.start_on_first(InferenceRun(job_priority=2))
        npu.settle()
        observation.check_starts(weak.events())


@cases.case("stronger_work_of_a_burst", "NPU-HAL-023", "NPU-HAL-025")
def stronger_work_of_a_burst(context: CaseContext) -> None:
    """Where later work of a burst starts first, its start is not told in place of the first work's."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        strong.start_on_first()
        npu.pass_ms(1)
        for job in (1000, 500, 0):
            weak.start_on_first(InferenceRun(job_priority=job))
        npu.settle()
        observation.check_starts(weak.events())
