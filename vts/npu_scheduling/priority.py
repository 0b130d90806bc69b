"""Whose work is done first, and what is notified of work that is paused for stronger work."""

from __future__ import annotations

import time

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import MAX_PRIORITY
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
    Recorder,
    events_of,
    first_of,
    last_of,
    time_of,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.runs import NoRoomBesideOthers

cases = CaseGroup("vts.npu_scheduling.priority", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_JUDGED_SECONDS = 0.3
"""In real time a tool takes a while to start: for so long the weaker run has to go on beside the stronger."""
_HEAD_START_MS = 100
"""By which AOSP's test lets the weaker work begin first."""
_SOON_MS = 20
"""Well within the debounce time, also twice."""
_WITHIN_MS = 105
"""Into the weaker work, and not at a round number: where inferences take whole tens it is within one."""


def _weak_and_strong(
    npu: SchedulingFixture, weak: App, weak_run: InferenceRun, strong: App, strong_run: InferenceRun
) -> list[str]:
    """Start the weak run, later the strong one; the names in order of ending."""
    npu.register_recorder()
    runs = {"weak": weak.start_on_first(weak_run)}
    npu.pass_ms(_HEAD_START_MS)
    npu.need_running(runs["weak"])
    runs["strong"] = strong.start_on_first(strong_run)
    order: list[str] = []

    def look() -> bool:
        order.extend(name for name, run in runs.items() if run.succeeded is not None and name not in order)
        return len(order) == len(runs)

    started = time.monotonic()
    npu.wait(lambda: look() or bool(order), "end of one of both runs", step_ms=1)
    if npu.is_in_real_time and order == ["weak"] and time.monotonic() - started < _JUDGED_SECONDS:
        raise NotApplicable("the weaker run was over before the stronger can be expected to have begun")
    npu.wait(look, "end of both runs", step_ms=1)
    npu.room.need_for(runs["strong"])
    for name, run in runs.items():
        checks.that(bool(run.succeeded), f"the {name} inferences: expected success, found {run.ending}")
    return order


def _judge_order(npu: SchedulingFixture, order: list[str]) -> None:
    """See that the stronger work came first. NotApplicable where it had a device of its own."""
    if order != ["strong", "weak"]:
        npu.settle()
        if len({event.work.device_number for event in npu.events()}) > 1:
            raise NotApplicable("the HAL does work that names no device on several: none had to wait")
    checks.equal(order, ["strong", "weak"], "order in which the runs ended")


@cases.case("by_job", "NPU-HAL-009")
def by_job(context: CaseContext) -> None:
    """Of two runs of one uid that of job 0 ends first, though it begins 100 ms later (AOSP: RunInferencesPrioritized).

    The interface asks for a best effort; AOSP's test fails a HAL that serves the weaker work to its end first, or has
    no room for both.
    """
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        app = npu.app(npu.camera)
        try:
            order = _weak_and_strong(npu, app, InferenceRun(job_priority=1000), app, InferenceRun(job_priority=0))
        except NoRoomBesideOthers as refusal:
            checks.fail("two runs of one app at once, as AOSP's test has them", "success of both", str(refusal))
        _judge_order(npu, order)


@cases.case("by_uid", "NPU-HAL-009", "NPU-HAL-037")
def by_uid(context: CaseContext) -> None:
    """Of the same job of two apps that of the one in the foreground ends first."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100), config(npu.assistant, 1000))
        weak, strong = npu.app(npu.assistant), npu.app(npu.camera)
        order = _weak_and_strong(npu, weak, InferenceRun(), strong, InferenceRun())
        _judge_order(npu, order)


@cases.case("by_sum", "NPU-HAL-009", "NPU-HAL-008")
def by_sum(context: CaseContext) -> None:
    """Neither the uid nor the job decides alone: uid 600 with job 0 goes before uid 100 with job 1000."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 600), config(npu.assistant, 100))
        weak, strong = npu.app(npu.assistant), npu.app(npu.camera)
        order = _weak_and_strong(npu, weak, InferenceRun(job_priority=1000), strong, InferenceRun(job_priority=0))
        _judge_best_effort(npu, order)


def _judge_best_effort(npu: SchedulingFixture, order: list[str]) -> None:
    """Without a promise of the manifest priorities are a best effort, of which AOSP's tests ask no more than above."""
    if npu.context.manifest.npu_checkpoint_ms is not None:
        _judge_order(npu, order)
    elif order != ["strong", "weak"]:
        npu.context.warn_quality("weaker work that began a little earlier is served to its end before stronger work")


@cases.case("feature_id_decides_nothing", "NPU-HAL-040", "NPU-HAL-009")
def feature_id_decides_nothing(context: CaseContext) -> None:
    """A feature id does not put weaker work before stronger work that has none."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100), config(npu.assistant, 1000))
        weak, strong = npu.app(npu.assistant), npu.app(npu.camera)
        order = _weak_and_strong(npu, weak, InferenceRun(feature_id="assistant.voice"), strong, InferenceRun())
        _judge_best_effort(npu, order)


@cases.case("names_among_equals", "NPU-HAL-040")
def names_among_equals(context: CaseContext) -> None:
    """Equal works are started in one order, whichever of them has a feature id."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        uids = (npu.camera, npu.assistant, npu.gallery)
        npu.configure(*(config(uid, 500) for uid in uids))
        apps = [npu.app(uid) for uid in uids]
        order = _order_of_starts(npu, apps, None)
        if _order_of_starts(npu, apps, None) != order:
            raise NotApplicable("the order of equal works changes from time to time")
        for named in apps:
            checks.equal(_order_of_starts(npu, apps, named), order, f"order of starts where uid {named.uid} has a name")


def _order_of_starts(npu: SchedulingFixture, apps: list[App], named: App | None) -> list[int]:
    """The uids of runs that begin together, by their starts and by their ends. named: the one with a feature id."""
    recorder = Recorder()
    npu.register_callback(recorder)
    for app in apps:
        app.start_on_first(InferenceRun(feature_id="app.night_mode" if app is named else None))
    npu.settle()
    return [event.work.uid for event in recorder.events if event.event_type != "requested"]


@cases.case("equals", "NPU-HAL-009")
def equals(context: CaseContext) -> None:
    """Among equals nobody starves: both runs come to their end."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500), config(npu.assistant, 500))
        first, second = npu.app(npu.camera), npu.app(npu.assistant)
        _weak_and_strong(npu, first, InferenceRun(), second, InferenceRun())


@cases.case("attributed", "NPU-HAL-014", "NPU-HAL-008")
def attributed(context: CaseContext) -> None:
    """Work for another uid has that uid's priority while it has a config, as in Cuttlefish; else a warning.

    So it does where work has the submitter's at all times, or the default of a uid that has no config.
    """
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 300, attribute=True), config(42, 700))
        _has_priority(npu, camera, 42, 700, (300, 700))
        _has_priority(npu, camera, 43, 300, (300, MAX_PRIORITY))
        npu.configure(config(npu.camera, 300, attribute=True))
        _has_priority(npu, camera, 42, 300, (300, MAX_PRIORITY))
        npu.update(config(42, 500))
        _has_priority(npu, camera, 42, 500, (300, 500))


def _has_priority(npu: SchedulingFixture, app: App, original: int, expected: int, possible: tuple[int, ...]) -> None:
    """See which uid's priority work for another uid has; a warning where it is not the expected one."""
    seen = len(app.events())
    app.works(InferenceRun(job_priority=10, original_uid=original))
    npu.settle()
    found = npu.first_event(app, seen).work.effective_priority - 10
    checks.member(found, possible, f"priority of work for uid {original}, beside that of the job")
    if found != expected:
        npu.context.warn_quality(f"work for uid {original} has priority {found}, expected {expected}")


def _paused(npu: SchedulingFixture, debounce_ms: int | None = None) -> App:
    """The weak app of two, whose work the strong one interrupts."""
    strong, weak = npu.strong_and_weak(debounce_ms)
    runs = [weak.start_on_first()]
    npu.pass_ms(_WITHIN_MS)
    runs.append(strong.start_on_first())
    for run in runs:
        npu.succeeds(run, "inferences", step_ms=1)
    npu.settle(debounce_ms)
    npu.expect(strong, *UNDISTURBED)
    return weak


@cases.case("paused_and_resumed", "NPU-HAL-029", "NPU-HAL-031", "NPU-HAL-041")
def paused_and_resumed(context: CaseContext) -> None:
    """A pause that is notified is followed by a start as RESUMED, and by a final end. Pausing is optional."""
    with scheduling_fixture(context) as npu:
        weak = _paused(npu)
        checks.equal(without_pauses(weak.received()), list(UNDISTURBED), "events without pauses that were resumed from")
        pauses = events_of(weak.events(), PAUSED)
        if not pauses:
            raise NotApplicable("no pause was notified: the subject does not pause work, or not for so long")


@cases.case("paused_twice", "NPU-HAL-041", "NPU-HAL-029", "NPU-HAL-031")
def paused_twice(context: CaseContext) -> None:
    """Of work that is paused time and again every pause is notified with its start as RESUMED, or neither is."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        weak_run = weak.start_on_first()
        for _ in range(2):
            npu.pass_ms(_WITHIN_MS)
            if weak_run.succeeded:
                raise NotApplicable("the weaker work is over before stronger work comes a second time")
            npu.succeeds(strong.start_on_first(), "the stronger inferences", step_ms=1)
        npu.settle()
        checks.equal(without_pauses(weak.received()), list(UNDISTURBED), "events without pauses that were resumed from")


@cases.case("request_withdraws_the_pause", "NPU-HAL-024", "NPU-HAL-041")
def request_withdraws_the_pause(context: CaseContext) -> None:
    """A pause is an end as any: a request within the debounce time withdraws it, and the start behind it as well."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        weak.start_on_first()
        npu.pass_ms(_WITHIN_MS)
        strong.start_on_first()
        npu.wait(lambda: STARTED in strong.received(), "start of the stronger inferences", step_ms=1)
        npu.pass_ms(_SOON_MS)
        weak.start_on_first()
        npu.settle()
        started = time_of(strong.events(), STARTED)
        pauses = [event.work.timestamp_ms - started for event in events_of(weak.events(), PAUSED)]
        early = [late for late in pauses if -_SOON_MS < late <= _SOON_MS]
        checks.equal(
            early, [], f"pauses notified of a uid with a request {_SOON_MS} ms after the stronger work's start"
        )
        checks.equal(without_pauses(weak.received()), list(UNDISTURBED), "events without pauses that were resumed from")


@cases.case("pause_has_its_times", "NPU-HAL-021", "NPU-HAL-031")
def pause_has_its_times(context: CaseContext) -> None:
    """Pause and start again have the times at which they happened: between both the stronger work was done."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        weak = _paused(npu)
        if PAUSED not in weak.received():
            raise NotApplicable("no pause was notified: the subject does not pause work, or not for so long")
        strong = npu.recorder.of(npu.camera)
        first_pause, last_start = first_of(weak.events(), PAUSED), last_of(weak.events(), RESUMED)
        checks.that(
            first_pause.work.timestamp_ms <= time_of(strong, STARTED),
            "the stronger work started before the weaker was paused",
        )
        checks.that(
            last_start.work.timestamp_ms >= time_of(strong, COMPLETED),
            "the weaker work was resumed for good before the stronger had ended",
        )


@cases.case("short_pause", "NPU-HAL-041", "NPU-HAL-024")
def short_pause(context: CaseContext) -> None:
    """A pause shorter than the debounce time is not notified, and neither is the start that ends it."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        npu.app(npu.camera).works()
        run_ms = npu.passed_ms
        npu.settle()
        weak = _paused(npu, 3 * run_ms)
        npu.expect(weak, *UNDISTURBED)


@cases.case("paused_and_cancelled", "NPU-HAL-031", "NPU-HAL-030")
def paused_and_cancelled(context: CaseContext) -> None:
    """Work that is cancelled while it is paused ends with a final reason and is not resumed."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        weak_run = weak.start_on_first()
        npu.pass_ms(_WITHIN_MS)
        strong_run = strong.start_on_first()
        npu.wait(lambda: PAUSED in weak.received() or strong_run.succeeded is not None, "a pause", step_ms=1)
        if weak.received() != [REQUESTED, STARTED, PAUSED] or strong_run.succeeded is not None:
            raise NotApplicable("no pause was notified: the subject does not pause work, or not for so long")
        weak.cancel()
        checks.that(not npu.end_of(weak_run), "inferences that were cancelled: expected no success, found success")
        npu.succeeds(strong_run, "the stronger inferences")
        npu.settle()
        npu.expect(weak, REQUESTED, STARTED, PAUSED, USER)


@cases.case("no_pause_for_weaker", "NPU-HAL-009")
def no_pause_for_weaker(context: CaseContext) -> None:
    """Work is not paused for weaker work."""
    with scheduling_fixture(context) as npu:
        strong, weak = npu.strong_and_weak()
        runs = [strong.start_on_first()]
        npu.pass_ms(_WITHIN_MS)
        runs.append(weak.start_on_first())
        for run in runs:
            npu.succeeds(run, "inferences")
        npu.settle()
        npu.expect(strong, *UNDISTURBED)
