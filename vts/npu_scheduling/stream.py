"""What holds over all events together: their ids, their times, and how those of several apps mix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    REQUESTED,
    STARTED,
    UNDISTURBED,
    Notification,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import (
    SLACK_MS,
    SchedulingFixture,
    config,
    scheduling_fixture,
)
from npu_conformance.vts.lib.npu_scheduling.scenario import UIDS_OF_A_USER

cases = CaseGroup("vts.npu_scheduling.stream", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_MANY = 70
_IN_TURN = 270
_CROWD = 300
"""Works of one app at one time. No document says for how many a HAL has room."""
_SHORT_MS, _FEW = 5, 20
"""A debounce time that is shorter than an inference, and how many of the runs may be about to end together."""
_INTERRUPTIONS = 4
_FIRST_UID = 10_300
_WEEKS_MS = 25 * 24 * 3_600_000
"""Milliseconds outgrow 31 bits after the first of such times, and 32 behind the second."""


def _busy(npu: SchedulingFixture) -> list[App]:
    """Three apps of different priority work at once, or two, and then one after the other: those that had room."""
    apps = [npu.app(uid) for uid in (npu.camera, npu.assistant, npu.gallery)]
    npu.configure(*(config(app.uid, priority) for app, priority in zip(apps, (100, 400, 400), strict=True)))
    npu.register_recorder()
    runs = {}
    for app in reversed(apps):
        runs[app.start_if_there_is_room()] = app
        npu.pass_ms(20)
    apps = [runs[run] for run in npu.with_room([*runs])]
    npu.settle()
    for app in apps:
        app.works()
    npu.settle()
    for app in apps:
        npu.first_event(app)
    return apps


@cases.case("each_app", "NPU-HAL-019", "NPU-HAL-026", "NPU-HAL-031")
def each_app(context: CaseContext) -> None:
    """Each of several apps has its own requests, starts and ends, in order, whatever the others do."""
    with scheduling_fixture(context) as npu:
        for app in _busy(npu):
            received = without_pauses(app.received())
            checks.member(received, ([*UNDISTURBED], [*UNDISTURBED, *UNDISTURBED]), f"events of uid {app.uid}")


@cases.case("ids_of_one_work", "NPU-HAL-020", "NPU-HAL-039")
def ids_of_one_work(context: CaseContext) -> None:
    """An id is that of one event, as AOSP's test has it, or of one work: never of two apps, or of two bursts."""
    with scheduling_fixture(context) as npu:
        owners: dict[int, set[object]] = {}
        for app in _busy(npu):
            for index, event in enumerate(app.events()):
                burst = app.received()[: index + 1].count(REQUESTED)
                owners.setdefault(event.work.id, set()).add((app.uid, burst))
        shared = {number: sorted(map(str, who)) for number, who in owners.items() if len(who) > 1}
        checks.equal(shared, {}, "ids that are of several works (uid, burst)")


@cases.case("ids_rise", "NPU-HAL-020")
def ids_rise(context: CaseContext) -> None:
    """Ids never decrease over the events of an app; where each event has its own, they rise over all apps, too.

    An end is notified later than it happens, and its id may be of either moment: so ids rise over all events either as
    they arrive, or as their timestamps do.
    """
    with scheduling_fixture(context) as npu:
        for app in _busy(npu):
            own = [event.work.id for event in app.events()]
            checks.equal(own, sorted(own), f"ids of uid {app.uid} in order of arrival")
        events = npu.events()
        ids = [event.work.id for event in events]
        times = [event.work.timestamp_ms for event in sorted(events, key=lambda event: event.work.id)]
        checks.that(
            len(set(ids)) < len(ids) or ids == sorted(ids) or times == sorted(times),
            f"ids over all apps: expected to rise with arrival or with the timestamps, found {ids} at {times}",
        )


@cases.case("times_never_go_back", "NPU-HAL-021")
def times_never_go_back(context: CaseContext) -> None:
    """Timestamps of an app's events never decrease."""
    with scheduling_fixture(context) as npu:
        for app in _busy(npu):
            times = [event.work.timestamp_ms for event in app.events()]
            checks.equal(times, sorted(times), f"timestamps of uid {app.uid} in order of arrival")


@cases.case("times_follow_the_clock", "NPU-HAL-021")
def times_follow_the_clock(context: CaseContext) -> None:
    """Between the requests of two runs as many milliseconds have passed as on the clock."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        begun = []
        for _ in range(2):
            begun.append(npu.passed_ms)
            camera.works()
            npu.settle()
            npu.pass_ms(1000)
        times = [event.work.timestamp_ms for event in camera.events() if event.notification == REQUESTED]
        checks.equal(len(times), 2, "number of requests of two runs")
        checks.equal(times[1] - times[0], begun[1] - begun[0], "milliseconds between two requests")


@cases.case("times_of_the_events", "NPU-HAL-021", "NPU-HAL-024")
def times_of_the_events(context: CaseContext) -> None:
    """The end has the time at which the work ended, not that at which it is notified."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        run = camera.start()
        npu.succeeds(run, "inferences", step_ms=1)
        took = npu.passed_ms
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        requested, started, ended = (event.work.timestamp_ms for event in camera.events())
        checks.that(requested <= started <= requested + took, "the start is not within the run")
        late = ended - requested
        checks.that(took - 1 <= late <= took, f"end: expected {took} ms after the request, found {late}")


@cases.case("resumed_each_time", "NPU-HAL-029", "NPU-HAL-031", "NPU-HAL-041")
def resumed_each_time(context: CaseContext) -> None:
    """However often stronger work interrupts it, weaker work has one first start, and resumes after each pause."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        strong, weak = npu.strong_and_weak()
        run = weak.start()
        for _ in range(_INTERRUPTIONS):
            npu.pass_ms(3)
            strong.works()
        npu.succeeds(run, "inferences that others interrupt")
        npu.settle()
        checks.equal(without_pauses(weak.received()), list(UNDISTURBED), f"events of uid {weak.uid}, without pauses")


@cases.case("many_apps", "NPU-HAL-026", "NPU-HAL-015", "NPU-HAL-019")
def many_apps(context: CaseContext) -> None:
    """Many apps at once: as many as there is room for are served, and events of each are its own."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so much work may take minutes
        npu.register_recorder()
        apps = [npu.app(_FIRST_UID + index) for index in range(_MANY)]
        runs = [app.start_if_there_is_room(InferenceRun(job_priority=10 * index)) for index, app in enumerate(apps)]
        taken = npu.with_room(runs)
        for run in taken:
            npu.succeeds(run, "inferences among those of many apps", 100)
        npu.settle()
        for index, app in enumerate(apps):
            received = without_pauses(app.received())
            jobs = {event.work.job_priority for event in app.events()}
            checks.equal(jobs | {10 * index}, {10 * index}, f"jobs of uid {app.uid}")
            if runs[index] in taken:
                checks.equal(received, list(UNDISTURBED), f"events of uid {app.uid}")
            else:
                checks.that(STARTED not in received, f"uid {app.uid}, whose work was refused: a start is notified")


@cases.case("apps_one_after_the_other", "NPU-HAL-026", "NPU-HAL-019", "NPU-HAL-022")
def apps_one_after_the_other(context: CaseContext) -> None:
    """However many apps have worked before, the next one has all its events."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so much work may take minutes
        npu.register_recorder()
        uids = range(_FIRST_UID, _FIRST_UID + _IN_TURN)
        for uid in uids:
            app = npu.app(uid)
            app.works(step_ms=100)
            npu.pass_ms(npu.debounce_ms + SLACK_MS)
            app.leave()
        npu.settle()
        _judge_each(npu, uids)


def _judge_each(npu: SchedulingFixture, uids: Sequence[int]) -> None:
    """Each uid has one burst."""
    told: defaultdict[int, list[Notification]] = defaultdict(list)
    for event in npu.recorder.events:
        told[event.work.uid].append(event.notification)
    wrong = [(uid, told[uid]) for uid in uids if without_pauses(told[uid]) != [*UNDISTURBED]]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(uids)} uids with other events than of one burst")


@cases.case("apps_of_uids_alike_in_part", "NPU-HAL-026", "NPU-HAL-015", "NPU-HAL-024")
def apps_of_uids_alike_in_part(context: CaseContext) -> None:
    """An app of two users, and uids that agree in their lower bits, have bursts of their own: also soon after another.

    Each works within the debounce time of the one before.
    """
    with scheduling_fixture(context) as npu:
        apps = [npu.app(npu.camera + other) for other in (0, UIDS_OF_A_USER, 2**16, 2**24, 2 * UIDS_OF_A_USER)]
        npu.need_virtual_clock()
        npu.register_recorder()
        for app in apps:
            app.works(step_ms=1)
        npu.settle()
        _judge_each(npu, [app.uid for app in apps])


@cases.case("order_within_a_run", "NPU-HAL-019")
def order_within_a_run(context: CaseContext) -> None:
    """A run is requested before it is started, and started before its end is known."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        run = camera.start()
        npu.wait(
            lambda: STARTED in camera.received() or run.succeeded is not None, "start of the inferences", step_ms=1
        )
        checks.equal(camera.received()[:2], [REQUESTED, STARTED], "first events")
        npu.end_of(run)
        npu.settle()
        checks.equal(camera.received()[-1], COMPLETED, "last event")


@cases.case("many_of_one_app", "NPU-HAL-019", "NPU-HAL-025", "NPU-HAL-031")
def many_of_one_app(context: CaseContext) -> None:
    """Very many runs of one app at once come to their end, those that there is room for to success, in one burst."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so much work may take minutes
        npu.register_recorder()
        camera = npu.app(npu.camera)
        runs = [camera.start_if_there_is_room(InferenceRun(job_priority=index)) for index in range(_CROWD)]
        taken = npu.with_room(runs)
        npu.pass_ms(_CROWD * 1000)  # each takes several hundred milliseconds, and they may take turns
        for run in taken:
            npu.succeeds(run, f"one of {len(taken)} runs of an app at once", 1000)
        npu.settle()
        checks.equal(without_pauses(camera.received()), list(UNDISTURBED), f"events of uid {camera.uid}")


@cases.case("many_with_a_short_debounce_time", "NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-028")
def many_with_a_short_debounce_time(context: CaseContext) -> None:
    """While very many runs of one app are under way, their burst goes on, however short the debounce time is."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        npu.register_recorder(_SHORT_MS)
        camera = npu.app(npu.camera)
        runs = [camera.start_if_there_is_room(InferenceRun(job_priority=index)) for index in range(_CROWD)]
        if len(npu.with_room(runs)) < 2 * _FEW:
            raise NotApplicable("the HAL has no room for many works of an app")
        for _ in range(_CROWD):
            npu.pass_ms(1000)
            left = sum(run.succeeded is None for run in runs)
            if left < _FEW:
                break
            what = f"events of uid {camera.uid}, {left} runs of which are under way"
            checks.equal(without_pauses(camera.received()), [REQUESTED, STARTED], what)


@cases.case("times_of_a_long_uptime", "NPU-HAL-021", "NPU-HAL-019")
def times_of_a_long_uptime(context: CaseContext) -> None:
    """A device that is up for weeks tells its events as on the first day, with times that follow its clock."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        begun = []
        for _ in range(3):
            begun.append(npu.passed_ms)
            camera.works()
            npu.settle()
            npu.pass_ms(_WEEKS_MS)
        npu.expect(camera, *UNDISTURBED * 3)
        times = [event.work.timestamp_ms for event in camera.events()]
        checks.equal(times, sorted(times), "timestamps over seven weeks")
        for index, began in enumerate(begun):
            late = times[index * len(UNDISTURBED)] - times[0] - (began - begun[0])
            checks.equal(late, 0, f"milliseconds by which the time of request {index + 1} is off the clock")
