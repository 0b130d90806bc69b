"""What holds of a scheduler that promises to interrupt weaker work (npu_checkpoint_ms of the manifest).

AOSP and the public page ask for a best effort alone: without the promise none of this applies.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    PAUSED,
    REQUESTED,
    RESUMED,
    STARTED,
    UNDISTURBED,
    USER,
    Event,
    events_of,
    last_of,
    time_of,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.runs import INTO_WORK_MS, Run
from npu_conformance.vts.lib.npu_scheduling.scenario import devices_of

cases = CaseGroup("vts.npu_scheduling.preemption", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_OFFSETS_MS = (1, 5, 9, 10, 11, 22, 35, 79, 101)
"""How far into the weaker work the stronger one comes."""
_PAUSES_MS = (20, 35, 48, 50, 51, 70)
_RANKS = (900, 901)
_SOON_MS, _INTERRUPTIONS = (3, 7, 12), 8
"""How soon after each turn the stronger work comes again."""
_ROUNDED_MS = 2
"""By how much three spans between events may differ together, as each event has whole milliseconds (NPU-HAL-021)."""


def _length_ms(npu: SchedulingFixture, app: App) -> int:
    """How long an undisturbed run takes."""
    seen = len(app.events())
    app.works()
    npu.settle()
    events = app.events()[seen:]
    return _last_end(events) - time_of(events, STARTED)


def _goes_on(npu: SchedulingFixture, app: App, offset_ms: int) -> Run | ToolRun:
    """Start a run, and let it go on for so long."""
    seen = len(app.events())
    run = app.start_on_first()
    npu.let_begin(app, run, seen)
    npu.pass_ms(offset_ms)
    return run


def _last_end(events: list[Event]) -> int:
    """When the last of an app's work was complete."""
    return last_of(events, COMPLETED).work.timestamp_ms


@cases.case("in_time", "NPU-HAL-009", "NPU-HAL-031")
def in_time(context: CaseContext) -> None:
    """Stronger work has the NPU within the promised time, wherever in the weaker work it comes; that one is paused."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset in _OFFSETS_MS:
            seen_strong, seen_weak = len(strong.events()), len(weak.events())
            runs = [_goes_on(npu, weak, offset), strong.start_on_first()]
            for run in runs:
                npu.succeeds(run, "inferences")
            npu.settle()
            ours, theirs = strong.events()[seen_strong:], weak.events()[seen_weak:]
            waited = time_of(ours, STARTED) - time_of(ours, REQUESTED)
            checks.that(waited <= promised, f"stronger work waited {waited} ms, {offset} ms into the weaker")
            checks.equal(
                without_pauses([event.notification for event in theirs]), list(UNDISTURBED), "events of the weaker"
            )
            if events_of(theirs, PAUSED):
                paused = time_of(theirs, PAUSED) - time_of(ours, REQUESTED)
                checks.that(paused <= promised, f"the weaker work was paused {paused} ms after the request")


@cases.case("told", "NPU-HAL-030", "NPU-HAL-041", "NPU-HAL-029")
def notified(context: CaseContext) -> None:
    """Work that is interrupted for several hundred milliseconds is notified as paused, and then as resumed.

    Where it is between two inferences it is not paused but waits, and so it always may where inferences are shorter
    than the promise. How long they are no event tells.
    """
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset in _OFFSETS_MS:
            _goes_on(npu, weak, offset)
            strong.start_on_first()
            npu.settle()
        pauses, resumptions = (len(events_of(weak.events(), one)) for one in (PAUSED, RESUMED))
        with checks.about("NPU-HAL-041"):
            without_pauses(weak.received())
            checks.equal(resumptions, pauses, "number of starts after a pause")
        if not pauses:
            raise NotApplicable("no pause was notified: stronger work may have come between two inferences each time")


@cases.case("short_pauses", "NPU-HAL-041", "NPU-HAL-024")
def short_pauses(context: CaseContext) -> None:
    """A pause of about the debounce time is notified with the start that ends it, or not at all."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset, pause in itertools.product(_OFFSETS_MS, _PAUSES_MS):
            seen = len(weak.events())
            _goes_on(npu, weak, offset)
            strong.start_on_first()
            npu.pass_ms(pause)
            strong.cancel()
            npu.settle()
            received = [event.notification for event in weak.events()[seen:]]
            what = f"events of work that is interrupted {offset} ms after its request, for {pause} ms"
            checks.equal(without_pauses(received), list(UNDISTURBED), what)


@cases.case("goes_on", "NPU-HAL-031")
def goes_on(context: CaseContext) -> None:
    """Interrupted work goes on where it stopped: both works together take as long as each alone."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        alone = _length_ms(npu, strong) + _length_ms(npu, weak)
        for offset in _OFFSETS_MS:
            seen = len(weak.events())
            _goes_on(npu, weak, offset)
            strong.start_on_first()
            npu.settle()
            events = weak.events()[seen:]
            together = time_of(events, COMPLETED) - time_of(events, STARTED)
            what = f"both works, the stronger {offset} ms into the weaker: {together} ms, one after the other {alone}"
            if together < alone - _ROUNDED_MS:
                npu.need_no_gaps(strong)
            checks.that(alone - _ROUNDED_MS <= together <= alone + 2 * promised, what)


@cases.case("goes_on_each_time", "NPU-HAL-031", "NPU-HAL-009")
def goes_on_each_time(context: CaseContext) -> None:
    """Work is interrupted again and again, and takes no longer than without, but for what the stronger had."""
    _interrupted(context, lambda npu, weak, number: None)


@cases.case("goes_on_when_ranked_anew", "NPU-HAL-031", "NPU-HAL-003")
def goes_on_when_ranked_anew(context: CaseContext) -> None:
    """So it does where its priority changes each time while it is paused."""
    _interrupted(context, lambda npu, weak, number: npu.update(config(weak.uid, _RANKS[number % len(_RANKS)])))


def _interrupted(context: CaseContext, meanwhile: Callable[[SchedulingFixture, App, int], None]) -> None:
    """meanwhile: what happens during each interruption of the weaker work, of which it gets the number."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        npu.need_profile_of_page()
        strong, weak = npu.strong_and_weak(debounce_ms=0)
        alone = _length_ms(npu, weak)
        for offset in _SOON_MS:
            seen, seen_weak = len(strong.events()), len(weak.events())
            _goes_on(npu, weak, 0)
            for number in range(_INTERRUPTIONS):
                npu.pass_ms(offset)
                strong.start_on_first()
                npu.pass_ms(promised + offset)
                meanwhile(npu, weak, number)
                strong.cancel()
            npu.settle()
            theirs, ours = strong.events()[seen:], weak.events()[seen_weak:]
            lost = sum(event.work.timestamp_ms for event in theirs if event.event_type == "ended")
            lost -= sum(event.work.timestamp_ms for event in events_of(theirs, STARTED))
            took = _last_end(ours) - time_of(ours, STARTED) - lost
            what = f"{took} ms for work that was interrupted {_INTERRUPTIONS} times, {alone} ms without"
            rounded = 1 + _INTERRUPTIONS
            if took < alone - rounded:
                npu.need_no_gaps(weak)
            checks.that(alone - rounded <= took <= alone + 2 * promised + rounded, what)


@cases.case("several", "NPU-HAL-009", "NPU-HAL-031")
def several(context: CaseContext) -> None:
    """Work of middle priority is interrupted by stronger work, and interrupts weaker work."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        npu.configure(config(npu.camera, 100), config(npu.assistant, 400), config(npu.gallery, 1000))
        npu.register_recorder()
        apps = [npu.app(uid) for uid in (npu.gallery, npu.assistant, npu.camera)]
        for app in apps:
            app.start_on_first()
            npu.pass_ms(INTO_WORK_MS)
        npu.settle()
        weak, middle, strong = (app.events() for app in apps)
        for events in (middle, strong):
            waited = time_of(events, STARTED) - time_of(events, REQUESTED)
            checks.that(waited <= promised, f"stronger work waited {waited} ms")
        ends = [time_of(events, COMPLETED) for events in (strong, middle, weak)]
        checks.equal(ends, sorted(ends), "times of the ends, the strongest first")


@cases.case("equals_wait", "NPU-HAL-009")
def equals_wait(context: CaseContext) -> None:
    """Work is not interrupted for its equal: no pause is notified of either."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        npu.configure(config(npu.camera, 500), config(npu.assistant, 500))
        npu.register_recorder()
        apps = [npu.app(npu.camera), npu.app(npu.assistant)]
        for app in apps:
            app.start_on_first()
            npu.pass_ms(5)
        npu.settle()
        for app in apps:
            npu.expect(app, *UNDISTURBED)


@cases.case("withdrawn", "NPU-HAL-031")
def withdrawn(context: CaseContext) -> None:
    """Stronger work that is withdrawn again interrupts nothing: the weaker takes as long as alone."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        alone = _length_ms(npu, weak)
        for offset in (12, 18, 95):
            seen = len(weak.events())
            _goes_on(npu, weak, offset)
            strong.start_on_first()
            strong.cancel()
            npu.settle()
            events = weak.events()[seen:]
            checks.equal([event.notification for event in events], list(UNDISTURBED), "events of the weaker work")
            took = time_of(events, COMPLETED) - time_of(events, STARTED)
            checks.that(alone - 1 <= took <= alone + promised, f"the weaker work took {took} ms, alone {alone}")


@cases.case("pause_before_start", "NPU-HAL-023", "NPU-HAL-041")
def pause_before_start(context: CaseContext) -> None:
    """No pause is notified of work whose start was not: that of a uid whose first work still waits."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        npu.configure(config(npu.camera, 600), config(npu.assistant, 100), config(npu.gallery, 0))
        npu.register_recorder()
        camera, assistant, gallery = (npu.app(uid) for uid in (npu.camera, npu.assistant, npu.gallery))
        camera.start_on_first(InferenceRun(job_priority=0))
        npu.pass_ms(5)
        assistant.start_on_first(InferenceRun(job_priority=1000))
        npu.pass_ms(5)
        assistant.start_on_first(InferenceRun(job_priority=0))
        npu.pass_ms(13)
        gallery.start_on_first(InferenceRun(job_priority=0))
        npu.settle()
        received = without_pauses(assistant.received())
        checks.equal(received, list(UNDISTURBED), "events of a uid of which the second work started first")
        checks.that(RESUMED not in assistant.received()[:2], "a start after a pause is notified before the first start")


@cases.case("on_each_device", "NPU-HAL-009", "NPU-HAL-032")
def on_each_device(context: CaseContext) -> None:
    """Stronger work has each device within the promised time, not the first one alone."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for device in devices_of(strong):
            run = InferenceRun(device_number=device)
            seen = len(strong.events())
            runs = [weak.start(run)]
            npu.pass_ms(INTO_WORK_MS)
            runs.append(strong.start(run))
            for each in runs:
                npu.succeeds(each, f"inferences on device {device}")
            npu.settle()
            ours = strong.events()[seen:]
            waited = time_of(ours, STARTED) - time_of(ours, REQUESTED)
            checks.that(waited <= promised, f"stronger work waited {waited} ms for device {device}")


@cases.case("after_an_early_end", "NPU-HAL-009")
def after_an_early_end(context: CaseContext) -> None:
    """When work is ended early, the strongest that waits has the NPU within the promised time, not the oldest."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        running, oldest, strongest = (npu.app(uid) for uid in (npu.camera, npu.assistant, npu.gallery))
        npu.configure(config(npu.camera, 100), config(npu.assistant, 1000), config(npu.gallery, 700))
        npu.register_recorder()
        for waiting in ((oldest, strongest), (strongest, oldest)):
            seen = {app: len(app.events()) for app in (running, strongest)}
            running.start_on_first()
            npu.pass_ms(3)
            for app in waiting:
                app.start_on_first()
            npu.pass_ms(INTO_WORK_MS)
            running.cancel()
            npu.settle()
            ended = time_of(running.events()[seen[running] :], USER)
            waited = time_of(strongest.events()[seen[strongest] :], STARTED) - ended
            checks.that(waited <= promised, f"the strongest work waited {waited} ms after the one before it had ended")
