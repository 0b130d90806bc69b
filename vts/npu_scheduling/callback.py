"""The callback: one at a time, replaced, removed, dead, blocked; work does not depend on it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import Application
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import REQUESTED, STARTED, UNDISTURBED, Notification, Recorder
from npu_conformance.vts.lib.npu_scheduling.fixture import SLACK_MS, SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.needed import needed

cases = CaseGroup("vts.npu_scheduling.callback", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_LISTENER_UID = 1000
"""The system, which has the callback on a device."""
_RUNS = 150
_TALKATIVE = InferenceRun(feature_id="a" * 1000)
"""Runs whose events fill the channel of a callback that reads none, several times over, also where many events travel
at once: the buffer of a socket holds some 200 KB."""
_CROWD = range(10_300, 10_400, 10)
"""Apps that do the same by work that they cancel at once; these uids are nobody else's."""
_ROUNDS = 12
_DEBOUNCE_MS, _MARGIN_MS = (200, 60), 5
"""Durations, of which the shorter one is longer than any gap that a run may have."""
_HELD_UP_SECONDS, _TIMES_HELD_UP = 0.5, 3
"""Runs in virtual time that take so long, before time_scale, and so many in succession, wait for something."""
_AT_ONCE_SECONDS = 2.0
"""A call that waits for nothing takes less, before time_scale."""


@cases.case("set", "NPU-HAL-016", scope=Scope.SMOKE, group=Group.SCHEDULING_VALIDATION)
def set_callback(context: CaseContext) -> None:
    """A callback can be registered (AOSP: SetCallback)."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()


@cases.case("null", "NPU-HAL-016", scope=Scope.SMOKE, group=Group.SCHEDULING_VALIDATION)
def null(context: CaseContext) -> None:
    """Null can be registered, also where nothing is to be removed (AOSP: SetCallbackNull)."""
    with scheduling_fixture(context) as npu:
        npu.register_callback(None)
        npu.register_callback(None)


@cases.case("none", "NPU-HAL-018", group=Group.SCHEDULING_VALIDATION)
def none(context: CaseContext) -> None:
    """Work is also done without a callback."""
    with scheduling_fixture(context) as npu:
        npu.app(npu.camera).works()


@cases.case("replaced", "NPU-HAL-016", "NPU-HAL-017")
def replaced(context: CaseContext) -> None:
    """The callback that was registered last gets every event, the one before it none."""
    with scheduling_fixture(context) as npu:
        first, camera = Recorder(), npu.app(npu.camera)
        npu.register_callback(first)
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        checks.equal(len(npu.events(first)), 0, "number of events at the replaced callback")


@cases.case("replaced_after_events", "NPU-HAL-017")
def replaced_after_events(context: CaseContext) -> None:
    """A callback that has had events gets no more once it is replaced."""
    with scheduling_fixture(context) as npu:
        first, camera = Recorder(), npu.app(npu.camera)
        npu.register_callback(first)
        camera.works()
        npu.settle()
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        checks.equal(len(npu.events(first)), len(UNDISTURBED), "number of events at the replaced callback")


def _at_work(npu: SchedulingFixture, camera: App) -> None:
    run = camera.start()
    npu.pass_ms(15)
    npu.need_running(run)


def _behind_the_end(npu: SchedulingFixture, camera: App) -> None:
    npu.succeeds(camera.start(), "inferences", step_ms=1)
    npu.pass_ms(10)


_POINTS: dict[str, Callable[[SchedulingFixture, App], None]] = {
    "during_work": _at_work,
    "before_the_end_is_told": _behind_the_end,
}


def _declare_replaced(name: str, reach: Callable[[SchedulingFixture, App], None]) -> None:
    @cases.case(f"replaced_{name}", "NPU-HAL-017", "NPU-HAL-020", "NPU-HAL-022", "NPU-HAL-019")
    def replaced_meanwhile(context: CaseContext) -> None:
        """What comes behind a replacement goes to the new callback alone, and is what would have come to the old one.

        Also where there was none for a moment. Work that is requested then is part of the burst that goes on, and ids
        go on to rise.
        """
        with scheduling_fixture(context) as npu:
            npu.need_virtual_clock()
            camera = npu.app(npu.camera)
            for is_removed, goes_on in ((False, True), (True, False)):
                first, second = Recorder(), Recorder()
                npu.register_callback(first)
                reach(npu, camera)
                told = len(npu.events(first))
                if is_removed:
                    npu.register_callback(None)
                npu.register_callback(second)
                if goes_on:
                    camera.works()
                npu.settle()
                found = [*npu.events(first), *npu.events(second)]
                checks.equal(len(npu.events(first)), told, "number of events at the replaced callback")
                _is_one_burst([event.notification for event in found])
                ids = [event.work.id for event in found]
                checks.equal(ids, sorted(ids), "ids of the events at both callbacks, in order")


def _is_one_burst(found: list[Notification]) -> None:
    """See that nothing is told twice or left out; a second request is one that was not withheld.

    An end that was withheld is an event of undisturbed work as any: with its callback it does not vanish.
    """
    is_left_out = len(found) < len(UNDISTURBED)
    broken = "NPU-HAL-022" if found.count(REQUESTED) > 1 else "NPU-HAL-019" if is_left_out else "NPU-HAL-017"
    with checks.about(broken):
        checks.equal(found, list(UNDISTURBED), "events at both callbacks")


for _name, _reach in _POINTS.items():
    _declare_replaced(_name, _reach)


@cases.case("registered_twice", "NPU-HAL-016", "NPU-HAL-019")
def registered_twice(context: CaseContext) -> None:
    """Registering one callback twice does not double its events."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("removed", "NPU-HAL-016", "NPU-HAL-017")
def removed(context: CaseContext) -> None:
    """A callback that was removed gets no events; registered again, it does."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        npu.register_callback(None)
        camera.works()
        npu.settle()
        npu.expect(camera)
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("dead", "NPU-HAL-018")
def dead(context: CaseContext) -> None:
    """A callback whose process died disturbs neither work nor configs, and a new one can be registered."""
    with scheduling_fixture(context) as npu:
        listener = context.application(_LISTENER_UID)
        _registered(listener.interfaces.scheduling)
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 100))
        camera.works()
        listener.close()
        for _ in range(2):
            npu.settle()
            camera.works()
        npu.settle()
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        first = camera.events()[0].work
        checks.equal(first.effective_priority - first.job_priority, 100, "priority set before the callback died")


@cases.case("dead_during_work", "NPU-HAL-018", group=Group.SCHEDULING_VALIDATION)
def dead_during_work(context: CaseContext) -> None:
    """A callback that dies while events are on their way does not stop the work."""
    with scheduling_fixture(context) as npu:
        listener = context.application(_LISTENER_UID)
        _registered(listener.interfaces.scheduling)
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        runs = [camera.start()]
        npu.pass_ms(20)
        listener.close()
        runs.append(assistant.start())
        for run in runs:
            npu.succeeds(run, "inferences whose events nobody receives")


@cases.case("dead_then_another_debounce_time", "NPU-HAL-018", "NPU-HAL-028", "NPU-HAL-024")
def dead_then_another_debounce_time(context: CaseContext) -> None:
    """The debounce time of the callback that comes after a dead one counts, be it longer or shorter."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        camera = npu.app(npu.camera)
        for duration_ms in _DEBOUNCE_MS:
            listener = context.application(_LISTENER_UID)
            _registered(listener.interfaces.scheduling)
            listener.close()
            camera.works()
            npu.settle()
            npu.register_recorder(duration_ms)
            seen = len(camera.events())
            camera.works(step_ms=1)
            npu.pass_ms(duration_ms - _MARGIN_MS)
            told = [event.notification for event in camera.events()[seen:]]
            checks.equal(told, [REQUESTED, STARTED], f"events before the debounce time of {duration_ms} ms is over")
            npu.pass_ms(_MARGIN_MS + SLACK_MS)
            told = [event.notification for event in camera.events()[seen:]]
            checks.equal(told, list(UNDISTURBED), f"events once the debounce time of {duration_ms} ms is over")


@cases.case("blocked", "NPU-HAL-035")
def blocked(context: CaseContext) -> None:
    """A callback that hangs and reads nothing does not keep work from being done."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so many runs take minutes
        listener = context.application(_LISTENER_UID)
        _registered(listener.interfaces.scheduling)
        camera = npu.app(npu.camera)
        _fill(npu, camera, listener)
        _receives_again(npu)


@cases.case("blocked_and_replaced", "NPU-HAL-035", "NPU-HAL-018", "NPU-HAL-016")
def blocked_and_replaced(context: CaseContext) -> None:
    """A callback that hangs is replaced without delay, and takes no other one with it when it dies at last."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        listener = context.application(_LISTENER_UID)
        _registered(listener.interfaces.scheduling)
        camera = npu.app(npu.camera)
        npu.configure(config(camera.uid, 100))
        _fill(npu, camera, listener)
        npu.settle()
        if _seconds(npu.register_recorder) > _AT_ONCE_SECONDS * context.manifest.time_scale:
            context.warn_quality("setCallback waits for the callback before, which hangs")
        listener.close()
        for _ in range(_ROUNDS):
            camera.works()
            camera.works()  # within the debounce time
            npu.settle()
        npu.expect(camera, *UNDISTURBED * _ROUNDS)
        npu.update(config(camera.uid, 200))
        camera.works()
        npu.settle()
        found = {event.work.effective_priority - event.work.job_priority for event in camera.events()}
        checks.equal(found, {100, 200}, "priorities set before and after the callback died")


def _fill(npu: SchedulingFixture, camera: App, listener: Application) -> None:
    """Let a callback hang, and work until many a message waits for it. Work has to be as quick as before."""
    work = functools.partial(camera.works, _TALKATIVE, step_ms=100)  # when its end comes is not asked here
    usual = min(_seconds(work) for _ in range(3))
    bound = max(_HELD_UP_SECONDS * npu.context.manifest.time_scale, 20 * usual)
    listener.is_deaf = True
    slow = 0
    for _ in range(_RUNS):
        with checks.reworded(_with_advice):
            slow = slow + 1 if _seconds(work) > bound else 0
        checks.that(slow < _TIMES_HELD_UP, f"runs while the callback hangs: {slow} took more than {bound:.1f} s each")
        npu.pass_ms(npu.debounce_ms)


def _seconds(call: Callable[[], None]) -> float:
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


@cases.case("blocked_in_real_time", "NPU-HAL-035")
def blocked_in_real_time(context: CaseContext) -> None:
    """The same where time passes by itself: the events are those of ten apps that begin work and cancel it."""
    with scheduling_fixture(context) as npu:
        npu.need_real_time()
        crowd = [npu.app(uid) for uid in _CROWD]
        listener = context.application(_LISTENER_UID)
        _registered(listener.interfaces.scheduling)
        listener.is_deaf = True
        for _ in range(_ROUNDS):
            for app in crowd:
                app.start()
                app.cancel()
            npu.rest(npu.debounce_ms)
        with checks.reworded(_with_advice):
            npu.app(npu.camera).works()
        _receives_again(npu)


def _with_advice(message: str) -> str:
    """What is known to bring this about."""
    return f"{message}, while a callback hangs: do outcomes of runs leave by another thread than events?"


def _receives_again(npu: SchedulingFixture) -> None:
    camera = npu.app(npu.camera)
    npu.settle()
    npu.register_recorder()
    camera.works()
    npu.settle()
    npu.expect(camera, *UNDISTURBED)


def _registered(scheduling: Scheduling | None) -> None:
    if scheduling is None:
        raise NotApplicable("apps cannot reach the scheduling HAL")
    checks.succeeds(lambda: needed(scheduling).set_callback(Recorder()), "setCallback")
