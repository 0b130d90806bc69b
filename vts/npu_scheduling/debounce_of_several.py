"""Debouncing where several uids, processes or devices work: each uid has its own bursts, one for all its work."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import (
    REQUESTED,
    STARTED,
    UNDISTURBED,
    USER,
    Recorder,
    now_ms,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SLACK_MS, SchedulingFixture, config, scheduling_fixture

cases = CaseGroup("vts.npu_scheduling.debounce", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_OTHER_UID = 42
_DISTANT_MS, _SOON_MS = 10_000, 3000
_SHORTLY_MS = 5
"""Less than an inference."""


@cases.case("other_uid_between", "NPU-HAL-026")
def other_uid_between(context: CaseContext) -> None:
    """Work of one uid within the debounce time of another one's has all its events, and so has the other one."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(10)
        assistant.works(step_ms=1)
        npu.settle()
        for app in (camera, assistant):
            npu.expect(app, *UNDISTURBED)


@cases.case("other_uid_goes_on", "NPU-HAL-026", "NPU-HAL-024")
def other_uid_goes_on(context: CaseContext) -> None:
    """The end of one uid's work does not wait for another one's."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(10)
        run = assistant.start()
        npu.pass_ms(DEBOUNCE_DURATION_MS + SLACK_MS)
        npu.need_running(run)
        npu.expect(camera, *UNDISTURBED)


@cases.case("by_the_requesting_uid", "NPU-HAL-022", "NPU-HAL-026")
def by_the_requesting_uid(context: CaseContext) -> None:
    """Debouncing goes by the uid that submits: its work for somebody else continues its own burst."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.configure(config(npu.camera, 500, attribute=True))
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(10)
        camera.works(InferenceRun(original_uid=_OTHER_UID), step_ms=1)
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("two_processes", "NPU-HAL-022", "NPU-HAL-025")
def two_processes(context: CaseContext) -> None:
    """Work of two processes of a uid, at once or one soon after the other, is one burst."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        first, second = (npu.app(npu.camera, pid) for pid in (4321, 8765))
        npu.register_recorder()
        run = first.start()
        npu.pass_ms(20)
        npu.need_running(run)
        second.works(step_ms=1)
        npu.end_of(run)
        npu.pass_ms(10)
        first.works(step_ms=1)
        npu.settle()
        npu.expect(first, *UNDISTURBED)


@cases.case("two_devices", "NPU-HAL-022", "NPU-HAL-025", "NPU-HAL-032")
def two_devices(context: CaseContext) -> None:
    """Work of a uid on two devices, at once or one soon after the other, is one burst."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        runs = [InferenceRun(device_number=number) for number in (0, 1)]
        if not all(camera.ends(run) for run in runs):
            raise NotApplicable("there is one device")
        npu.settle()
        npu.register_recorder()
        first = camera.start(runs[0])
        npu.pass_ms(20)
        npu.need_running(first)
        for run in (runs[1], runs[0], runs[1]):
            camera.works(run, step_ms=1)
            npu.pass_ms(10)
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("another_waits", "NPU-HAL-025", "NPU-HAL-019", "NPU-HAL-024")
def another_waits(context: CaseContext) -> None:
    """Where a uid's first work ends and no request follows, while other work of it waits, the burst ends with that.

    The first is the last of its run, since the uid loses its access meanwhile; the other waits for another device.
    """
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        here, there = InferenceRun(device_number=0), InferenceRun(device_number=1)
        if not all(weak.ends(run) for run in (here, there)):
            raise NotApplicable("there is one device")
        npu.settle()
        seen = len(weak.events())
        strong.start(there)
        weak.start(here)
        weak.start(there)
        npu.pass_ms(5)
        npu.update(config(weak.uid, 1000, direct=False))
        npu.settle()
        found = [event_type for event_type, _ in without_pauses(weak.received()[seen:])]
        checks.equal(found, ["requested", "started", "ended"], f"events of uid {weak.uid}, without pauses")


@cases.case("ended_together", "NPU-HAL-026", "NPU-HAL-019", "NPU-HAL-024")
def ended_together(context: CaseContext) -> None:
    """Works of two uids on two devices, which begin and end in the same milliseconds, have all their events each."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        apps = [npu.app(npu.camera), npu.app(npu.assistant)]
        runs = [InferenceRun(device_number=number) for number in (0, 1)]
        if not all(apps[0].ends(run) for run in runs):
            raise NotApplicable("there is one device")
        npu.settle()
        npu.register_recorder()
        for first, second in (apps, apps[::-1]):
            seen = {app: len(app.events()) for app in apps}
            first.start(runs[0])
            second.start(runs[1])
            npu.settle()
            for app in apps:
                received = without_pauses(app.received()[seen[app] :])
                checks.equal(received, list(UNDISTURBED), f"events of uid {app.uid}, beside like work of another")


@cases.case("cancelled_together", "NPU-HAL-026", "NPU-HAL-030", "NPU-HAL-024")
def cancelled_together(context: CaseContext) -> None:
    """Works of two uids that are cancelled in one millisecond, of which one may have waited, both end as that."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        apps = [npu.app(npu.camera), npu.app(npu.assistant)]
        npu.register_recorder()
        for place, first in enumerate((*apps, *apps)):
            other = apps[first is apps[0]]
            seen = {app: len(app.events()) for app in apps}
            npu.let_begin(first, first.start_on_first(), seen[first])
            other.start_on_first()
            npu.pass_ms(_SHORTLY_MS)
            for app in (first, other) if place < len(apps) else (other, first):
                app.cancel()
            npu.settle()
            for app in apps:
                received = app.received()[seen[app] :]
                allowed = ([REQUESTED, STARTED, USER], [REQUESTED, USER])[: 1 + (app is other)]
                checks.member(received, allowed, f"events of uid {app.uid}, cancelled as another was")


@cases.case("not_by_the_original_uid", "NPU-HAL-026")
def not_by_the_original_uid(context: CaseContext) -> None:
    """Work for an app within the debounce time of its own is a burst of the submitter."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.configure(config(npu.assistant, 500, attribute=True))
        camera, assistant = npu.app(npu.camera), npu.app(npu.assistant)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(10)
        assistant.works(InferenceRun(original_uid=npu.camera), step_ms=1)
        npu.settle()
        for app in (camera, assistant):
            npu.expect(app, *UNDISTURBED)


@cases.case("short_behind_long", "NPU-HAL-024", "NPU-HAL-019", "NPU-HAL-028")
def short_behind_long(context: CaseContext) -> None:
    """While the end of one uid's work waits for 10 s, another uid works, and its end is told soon."""
    with scheduling_fixture(context) as npu:
        npu.need_profile_of_page()
        assistant, camera = npu.app(npu.assistant), npu.app(npu.camera)
        npu.register_callback(Recorder(), _DISTANT_MS)
        began_ms = now_ms()
        camera.works()
        soon_ms = _SOON_MS + 10 * (now_ms() - began_ms)
        npu.register_recorder()
        assistant.start()
        _wait_for_all(npu, assistant, soon_ms)
        npu.expect(assistant, *UNDISTURBED)
        camera.works()  # whose end waits no longer than the debounce time that holds now
        npu.settle()


def _wait_for_all(npu: SchedulingFixture, app: App, soon_ms: float) -> None:
    """Wait for the events of a run; in real time at most so long, before time_scale."""
    if npu.is_in_real_time:
        seconds = soon_ms / 1000 * npu.context.manifest.time_scale
        npu.context.subject.wait_until(lambda: len(app.events()) == len(UNDISTURBED), seconds)
    else:
        npu.settle()
