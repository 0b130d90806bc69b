"""What holds of a scheduler that promises to interrupt weaker work (npu_checkpoint_ms of the manifest).

AOSP and the public page ask for a best effort alone: without the promise none of this applies.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
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
    Notification,
    events_of,
    first_of,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import INTO_WORK_MS, SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.scenario import devices_of

cases = CaseGroup("vts.npu_scheduling.preemption", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_OFFSETS_MS = (1, 5, 9, 10, 11, 22, 35, 79, 101)
"""How far into the weaker work the stronger one comes."""
_PAUSES_MS = (20, 35, 48, 50, 51, 70)
_RANKS = (900, 901)
_SOON_MS, _INTERRUPTIONS = (3, 7, 12), 8
"""How soon after each turn the stronger work comes again."""


def _time_of(events: list[Event], notification: Notification) -> int:
    """The timestamp of the first event that says this."""
    return first_of(events, notification).work.timestamp_ms


def _length_ms(npu: SchedulingFixture, app: App) -> int:
    """How long an undisturbed run takes."""
    seen = len(app.events())
    app.works()
    npu.settle()
    events = app.events()[seen:]
    return _time_of(events, COMPLETED) - _time_of(events, STARTED)


@cases.case("in_time", "NPU-HAL-009", "NPU-HAL-031")
def in_time(context: CaseContext) -> None:
    """Stronger work has the NPU within the promised time, wherever in the weaker work it comes; that one is paused."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset in _OFFSETS_MS:
            seen_strong, seen_weak = len(strong.events()), len(weak.events())
            runs = [weak.start()]
            npu.pass_ms(offset)
            runs.append(strong.start())
            for run in runs:
                npu.succeeds(run, "inferences")
            npu.settle()
            ours, theirs = strong.events()[seen_strong:], weak.events()[seen_weak:]
            waited = _time_of(ours, STARTED) - _time_of(ours, REQUESTED)
            checks.that(waited <= promised, f"stronger work waited {waited} ms, {offset} ms into the weaker")
            checks.equal(
                without_pauses([event.notification for event in theirs]), list(UNDISTURBED), "events of the weaker"
            )
            if events_of(theirs, PAUSED):
                paused = _time_of(theirs, PAUSED) - _time_of(ours, REQUESTED)
                checks.that(paused <= promised, f"the weaker work was paused {paused} ms after the request")


@cases.case("told", "NPU-HAL-030", "NPU-HAL-041", "NPU-HAL-029")
def notified(context: CaseContext) -> None:
    """Work that is interrupted for several hundred milliseconds is notified as paused, and then as resumed.

    At some moments it may be between two inferences, and is not paused but waits; not at all of them.
    """
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset in _OFFSETS_MS:
            weak.start()
            npu.pass_ms(offset)
            strong.start()
            npu.settle()
        pauses, resumptions = (len(events_of(weak.events(), one)) for one in (PAUSED, RESUMED))
        checks.that(pauses > 0, f"no pause was notified of {len(_OFFSETS_MS)} runs that stronger ones interrupted")
        with checks.about("NPU-HAL-041"):
            checks.equal(resumptions, pauses, "number of starts after a pause")


@cases.case("short_pauses", "NPU-HAL-041", "NPU-HAL-024")
def short_pauses(context: CaseContext) -> None:
    """A pause of about the debounce time is notified with the start that ends it, or not at all."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        for offset, pause in itertools.product(_OFFSETS_MS, _PAUSES_MS):
            seen = len(weak.events())
            weak.start()
            npu.pass_ms(offset)
            strong.start()
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
            weak.start()
            npu.pass_ms(offset)
            strong.start()
            npu.settle()
            events = weak.events()[seen:]
            together = _time_of(events, COMPLETED) - _time_of(events, STARTED)
            what = f"both works, the stronger {offset} ms into the weaker: {together} ms, one after the other {alone}"
            checks.that(alone - 1 <= together <= alone + 2 * promised, what)


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
            weak.start()
            for number in range(_INTERRUPTIONS):
                npu.pass_ms(offset)
                strong.start()
                npu.pass_ms(promised + offset)
                meanwhile(npu, weak, number)
                strong.cancel()
            npu.settle()
            theirs, ours = strong.events()[seen:], weak.events()[seen_weak:]
            lost = sum(event.work.timestamp_ms for event in events_of(theirs, USER))
            lost -= sum(event.work.timestamp_ms for event in events_of(theirs, STARTED))
            took = _time_of(ours, COMPLETED) - _time_of(ours, STARTED) - lost
            what = f"{took} ms for work that was interrupted {_INTERRUPTIONS} times, {alone} ms without"
            checks.that(alone - 1 <= took <= alone + 2 * promised, what)


@cases.case("several", "NPU-HAL-009", "NPU-HAL-031")
def several(context: CaseContext) -> None:
    """Work of middle priority is interrupted by stronger work, and interrupts weaker work."""
    with scheduling_fixture(context) as npu:
        promised = npu.promised_ms()
        npu.configure(config(npu.camera, 100), config(npu.assistant, 400), config(npu.gallery, 1000))
        npu.register_recorder()
        apps = [npu.app(uid) for uid in (npu.gallery, npu.assistant, npu.camera)]
        for app in apps:
            app.start()
            npu.pass_ms(INTO_WORK_MS)
        npu.settle()
        weak, middle, strong = (app.events() for app in apps)
        for events in (middle, strong):
            waited = _time_of(events, STARTED) - _time_of(events, REQUESTED)
            checks.that(waited <= promised, f"stronger work waited {waited} ms")
        ends = [_time_of(events, COMPLETED) for events in (strong, middle, weak)]
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
            app.start()
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
            weak.start()
            npu.pass_ms(offset)
            strong.start()
            strong.cancel()
            npu.settle()
            events = weak.events()[seen:]
            checks.equal([event.notification for event in events], list(UNDISTURBED), "events of the weaker work")
            took = _time_of(events, COMPLETED) - _time_of(events, STARTED)
            checks.that(alone - 1 <= took <= alone + promised, f"the weaker work took {took} ms, alone {alone}")


def _changed(
    npu: SchedulingFixture, camera: int, assistant: int, change: Callable[[], None], *, by: int | None = None
) -> None:
    """Priorities change while the assistant's work waits for the camera's: it has the NPU in time.

    camera, assistant: their priorities before. by: another uid that does the camera's work.
    """
    npu.promised_ms()
    others = () if by is None else (config(by, 1000, attribute=True),)
    npu.configure(config(npu.camera, camera), config(npu.assistant, assistant), *others)
    waits, holds = npu.app(npu.assistant), npu.app(npu.camera if by is None else by)
    run = InferenceRun(original_uid=OWN_WORK if by is None else npu.camera)
    _overtakes(npu, (holds, run), (waits, InferenceRun()), change)


def _overtakes(
    npu: SchedulingFixture, held: tuple[App, InferenceRun], wanted: tuple[App, InferenceRun], change: Callable[[], None]
) -> None:
    """Work that waits has the NPU in time after a change. held, wanted: who has it, who waits for it, and for what."""
    promised = npu.promised_ms()
    npu.register_recorder()
    (holds, holding), (waits, waiting) = held, wanted
    holds.start(holding)
    npu.pass_ms(INTO_WORK_MS)
    waits.start(waiting)
    npu.pass_ms(INTO_WORK_MS)
    checks.equal(waits.received(), [REQUESTED], "events of work that waits for stronger work")
    change()
    npu.settle()
    late = _time_of(waits.events(), STARTED) - _time_of(waits.events(), REQUESTED) - INTO_WORK_MS
    checks.that(0 <= late <= promised, f"work had the NPU {late} ms after it became the stronger one")
    checks.equal(without_pauses(holds.received()), list(UNDISTURBED), "events of the work that became the weaker one")
    ends = [_time_of(app.events(), COMPLETED) for app in (waits, holds)]
    checks.equal(ends, sorted(ends), "times of the ends, the stronger first")


@cases.case("made_stronger", "NPU-HAL-009", "NPU-HAL-003")
def made_stronger(context: CaseContext) -> None:
    """Work that waits and whose app comes to the foreground has the NPU in time."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 400, 1000, lambda: npu.update(config(npu.assistant, 100)))


@cases.case("made_stronger_behind_work_for_it", "NPU-HAL-009", "NPU-HAL-003")
def made_stronger_behind_work_for_it(context: CaseContext) -> None:
    """So it does where another app's work for it has ended meanwhile."""
    with scheduling_fixture(context) as npu:
        gallery = npu.app(npu.gallery)

        def change() -> None:
            gallery.start(InferenceRun(original_uid=npu.assistant))
            gallery.cancel()
            npu.update(config(npu.assistant, 100))

        npu.configure(config(npu.camera, 400), config(npu.assistant, 1000), config(npu.gallery, 1000, attribute=True))
        work = InferenceRun()
        _overtakes(npu, (npu.app(npu.camera), work), (npu.app(npu.assistant), work), change)


@cases.case("made_weaker", "NPU-HAL-009", "NPU-HAL-003")
def made_weaker(context: CaseContext) -> None:
    """Work whose app goes to the background loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.update(config(npu.camera, 1000)))


@cases.case("made_weaker_by_replacing", "NPU-HAL-001", "NPU-HAL-003", "NPU-HAL-007", "NPU-HAL-009")
def made_weaker_by_replacing(context: CaseContext) -> None:
    """Work whose app has no config any more, since all were replaced, loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.configure(config(npu.assistant, 400)))


@cases.case("made_weaker_for_another", "NPU-HAL-014", "NPU-HAL-009")
def made_weaker_for_another(context: CaseContext) -> None:
    """Work that is done for an app which goes to the background loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.update(config(npu.camera, 1000)), by=npu.gallery)


@cases.case("first_config_of_another", "NPU-HAL-014", "NPU-HAL-003", "NPU-HAL-009")
def first_config_of_another(context: CaseContext) -> None:
    """Work that waits, and is done for an app which gets its first config by then, has the NPU in time."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        npu.configure(config(npu.camera, 400), config(npu.gallery, 1000, attribute=True))
        holds, waits = npu.app(npu.camera), npu.app(npu.gallery)
        run = InferenceRun(original_uid=npu.assistant)
        _overtakes(npu, (holds, InferenceRun()), (waits, run), lambda: npu.update(config(npu.assistant, 100)))


@cases.case("made_equal", "NPU-HAL-009", "NPU-HAL-003")
def made_equal(context: CaseContext) -> None:
    """Work that waits and becomes an equal of what runs does not interrupt it: no pause is notified of either."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        is_told_at_once = context.manifest.npu_profile == "page"
        strong, weak = npu.strong_and_weak(debounce_ms=0 if is_told_at_once else None)
        for equal in (config(weak.uid, 100), config(strong.uid, 1000)):
            npu.configure(config(strong.uid, 100), config(weak.uid, 1000))
            for app in (strong, weak):
                app.start()
                npu.pass_ms(5)
            npu.update(equal)
            npu.settle()
            for app in (strong, weak):
                checks.equal(events_of(app.events(), PAUSED), [], f"pauses of uid {app.uid}, now an equal")


@cases.case("cleared", "NPU-HAL-002", "NPU-HAL-009")
def cleared(context: CaseContext) -> None:
    """Clearing all configs makes equals of a waiting and a running app: nothing is interrupted, both succeed."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        runs = [strong.start()]
        npu.pass_ms(5)
        runs.append(weak.start())
        npu.configure()
        for run in runs:
            npu.succeeds(run, "inferences")
        npu.settle()
        npu.expect(strong, *UNDISTURBED)
        npu.expect(weak, *UNDISTURBED)


@cases.case("pause_before_start", "NPU-HAL-023", "NPU-HAL-041")
def pause_before_start(context: CaseContext) -> None:
    """No pause is notified of work whose start was not: that of a uid whose first work still waits."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        npu.configure(config(npu.camera, 600), config(npu.assistant, 100), config(npu.gallery, 0))
        npu.register_recorder()
        camera, assistant, gallery = (npu.app(uid) for uid in (npu.camera, npu.assistant, npu.gallery))
        camera.start(InferenceRun(job_priority=0))
        npu.pass_ms(5)
        assistant.start(InferenceRun(job_priority=1000))
        npu.pass_ms(5)
        assistant.start(InferenceRun(job_priority=0))
        npu.pass_ms(13)
        gallery.start(InferenceRun(job_priority=0))
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
            waited = _time_of(ours, STARTED) - _time_of(ours, REQUESTED)
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
            running.start()
            npu.pass_ms(3)
            for app in waiting:
                app.start()
            npu.pass_ms(INTO_WORK_MS)
            running.cancel()
            npu.settle()
            ended = _time_of(running.events()[seen[running] :], USER)
            waited = _time_of(strongest.events()[seen[strongest] :], STARTED) - ended
            checks.that(waited <= promised, f"the strongest work waited {waited} ms after the one before it had ended")
