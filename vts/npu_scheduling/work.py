"""What events say of the work: who, for whom, how urgent, where (NPU-HAL-039)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Uuid
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import REQUESTED, STARTED, UNDISTURBED, Event, first_of
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, scheduling_fixture

cases = CaseGroup("vts.npu_scheduling.work", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_UUID_BYTES = 16
_JOB_PRIORITIES = (0, 1, 500, 999, 1000)
_PID, _OTHER_PID = 4321, 8765
_FEATURE = "camera.night_mode"
_MOST_DEVICES = 64
_FRESH_UIDS = (10_291, 10_292, 10_293)
"""Apps that work in one case each."""


def _events_of(npu: SchedulingFixture, run: InferenceRun | None = None) -> list[Event]:
    """The events of one undisturbed run of the camera."""
    camera = npu.app(npu.camera)
    npu.register_recorder()
    seen = len(camera.events())
    camera.works(run)
    npu.settle()
    found = camera.events()[seen:]
    checks.equal([event.notification for event in found], list(UNDISTURBED), f"events of uid {camera.uid}")
    return found


@cases.case("undisturbed", "NPU-HAL-019", "NPU-HAL-025", "NPU-HAL-029", "NPU-HAL-030", scope=Scope.SMOKE)
def undisturbed(context: CaseContext) -> None:
    """One run: requested, started as INITIAL, ended as COMPLETED, once each (AOSP: RunInferenceStatusCallbacks)."""
    with scheduling_fixture(context) as npu:
        _events_of(npu)


@cases.case("as_in_aosp", "NPU-HAL-019", "NPU-HAL-020", "NPU-HAL-021", "NPU-HAL-034", "NPU-HAL-008")
def as_in_aosp(context: CaseContext) -> None:
    """The three events of one run are as AOSP's RunInferenceStatusCallbacks asks.

    It asks for a new id for each event, the public page for one for each work: both pass here.
    """
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        works = [event.work for event in _events_of(npu, InferenceRun(job_priority=300))]
        for work in works:
            with checks.about("NPU-HAL-034"):
                checks.equal(work.job_priority, 300, "job priority")
            with checks.about("NPU-HAL-008"):
                told = f"effective priority {work.effective_priority} of uid at 500"
                checks.that(work.effective_priority >= 500, told)
        for before, after in itertools.pairwise(works):
            with checks.about("NPU-HAL-020"):
                checks.that(before.id <= after.id, f"ids: expected not to decrease, found {before.id}, then {after.id}")
            with checks.about("NPU-HAL-021"):
                checks.that(before.timestamp_ms <= after.timestamp_ms, "timestamps: expected not to go back")


@cases.case("complete", "NPU-HAL-039")
def complete(context: CaseContext) -> None:
    """The three events of a run report alike works: of their fields only id, time, group and device may differ.

    The end of a burst is that of its last work, which may be of another device, and of another effort.
    """
    with scheduling_fixture(context) as npu:
        first, *rest = (event.work for event in _events_of(npu))
        for name in ("uid", "original_uid", "job_priority", "effective_priority", "debug_pid", "debug_feature_id"):
            for work in rest:
                checks.equal(getattr(work, name), getattr(first, name), f"{name} of a later event of the same work")


@cases.case("first_of_two_waiting", "NPU-HAL-023", "NPU-HAL-034", "NPU-HAL-039")
def first_of_two_waiting(context: CaseContext) -> None:
    """Where two works of a uid wait, the start that is notified is that of the work whose request was."""
    with scheduling_fixture(context) as npu:
        strong, weak = npu.strong_and_weak()
        run = strong.start_on_first()
        npu.wait(lambda: STARTED in strong.received() or run.succeeded is not None, "start", step_ms=1)
        for job_priority in (100, 900):
            weak.start_on_first(InferenceRun(job_priority=job_priority))
        npu.need_running(run)
        npu.settle()
        requested, started = (first_of(weak.events(), which).work for which in (REQUESTED, STARTED))
        for name in ("job_priority", "effective_priority", "group_id"):
            checks.equal(getattr(started, name), getattr(requested, name), f"{name} of the start, as of its request")


@cases.case("effective_is_sum", "NPU-HAL-008")
def effective_is_sum(context: CaseContext) -> None:
    """The effective priority is that of the uid plus that of the job, 0 to 2000."""
    with scheduling_fixture(context) as npu:
        for uid_priority, job_priority in ((0, 0), (0, 1000), (1000, 0), (1000, 1000), (125, 250), (333, 501), (64, 7)):
            npu.configure(config(npu.camera, uid_priority))
            for event in _events_of(npu, InferenceRun(job_priority=job_priority)):
                what = f"effective priority of uid {uid_priority} and job {job_priority}"
                checks.equal(event.work.effective_priority, uid_priority + job_priority, what)


@cases.case("weaker_job", "NPU-HAL-010")
def weaker_job(context: CaseContext) -> None:
    """Of two jobs of one uid that of priority 1000 is weaker than that of 0 (AOSP: RunInferenceEffectivePriority)."""
    with scheduling_fixture(context) as npu:
        strong, weak = (_events_of(npu, InferenceRun(job_priority=job))[0].work for job in (0, 1000))
        checks.that(
            weak.effective_priority > strong.effective_priority,
            f"effective priority of job 1000: expected more than {strong.effective_priority}, that of job 0, "
            f"found {weak.effective_priority}",
        )


@cases.case("background_app", "NPU-HAL-037")
def background_app(context: CaseContext) -> None:
    """The same job is weaker when the app is in the background."""
    with scheduling_fixture(context) as npu:
        found = []
        for uid_priority in (100, 400):
            npu.update(config(npu.camera, uid_priority))
            found.append(_events_of(npu, InferenceRun(job_priority=0))[0].work.effective_priority)
        checks.that(found[1] > found[0], f"effective priorities in foreground and background: found {found}")


@cases.case("job_priority_echoed", "NPU-HAL-034")
def job_priority_echoed(context: CaseContext) -> None:
    """Events carry the job priority as it was submitted."""
    with scheduling_fixture(context) as npu:
        for priority in _JOB_PRIORITIES:
            for event in _events_of(npu, InferenceRun(job_priority=priority)):
                checks.equal(event.work.job_priority, priority, f"job priority in the {event.event_type} event")


@cases.case("uid_of_the_caller", "NPU-HAL-015")
def uid_of_the_caller(context: CaseContext) -> None:
    """The uid is that of whoever calls, as the transport knows it: two apps have two."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        apps = [npu.app(npu.camera), npu.app(npu.assistant)]
        for app in apps:
            app.works()
            npu.settle()
        for app in apps:
            npu.expect(app, *UNDISTURBED)
        checks.equal(len(npu.events()), 2 * len(UNDISTURBED), "number of events of both apps")


@cases.case("own_work", "NPU-HAL-013")
def own_work(context: CaseContext) -> None:
    """Of work that an app does for itself the original uid is its own, named or not; Cuttlefish's profile has -1."""
    with scheduling_fixture(context) as npu:
        allowed = (npu.camera, OWN_WORK) if context.manifest.npu_profile == "cuttlefish" else (npu.camera,)
        for original_uid in (OWN_WORK, npu.camera):
            for event in _events_of(npu, InferenceRun(original_uid=original_uid)):
                checks.member(event.work.original_uid, allowed, f"original uid in the {event.event_type} event")


@cases.case("pid", "NPU-HAL-040", "NPU-HAL-015")
def pid(context: CaseContext) -> None:
    """The pid is that of the caller's process, as the transport says, or 0 where the HAL does not report it."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        camera = npu.app(npu.camera, _PID)
        camera.works()
        npu.settle()
        npu.first_event(camera)
        allowed = (_PID, 0) if context.manifest.inference_tool is None else range(1 << 31)
        for event in camera.events():
            what = f"debugPid: found {event.work.debug_pid}, which is neither the caller's nor 0"
            checks.that(event.work.debug_pid in allowed, what)


@cases.case("pid_of_each_process", "NPU-HAL-040", "NPU-HAL-015")
def pid_of_each_process(context: CaseContext) -> None:
    """Of two processes of a uid that has not worked before each has its own pid in its events, or 0."""
    with scheduling_fixture(context) as npu:
        if context.manifest.inference_tool is not None:
            raise NotApplicable("an inference tool has the pid that it has")
        npu.register_recorder()
        for number in (_PID, _OTHER_PID):
            app = npu.app(_FRESH_UIDS[0], number)
            seen = len(app.events())
            app.works()
            npu.settle()
            npu.first_event(app, seen)
            for event in app.events()[seen:]:
                checks.member(event.work.debug_pid, (number, 0), f"debugPid in the {event.event_type} event")


@cases.case("feature_id", "NPU-HAL-040")
def feature_id(context: CaseContext) -> None:
    """The feature id is the one submitted, or null where the HAL does not report it."""
    with scheduling_fixture(context) as npu:
        for event in _events_of(npu, InferenceRun(feature_id=_FEATURE)):
            if event.work.debug_feature_id is not None:
                checks.equal(event.work.debug_feature_id, _FEATURE, f"debugFeatureId in the {event.event_type} event")


@cases.case("pid_decides_nothing", "NPU-HAL-040", "NPU-HAL-008", "NPU-HAL-011")
def pid_decides_nothing(context: CaseContext) -> None:
    """Of two processes of one uid neither is stronger, and neither has access that the other one lacks."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        apps = [npu.app(npu.camera, pid) for pid in (_PID, _OTHER_PID)]
        for app in apps:
            _has_the_rights_of_its_uid(npu, app, InferenceRun())


@cases.case("feature_id_decides_nothing", "NPU-HAL-040", "NPU-HAL-008", "NPU-HAL-011")
def feature_id_decides_nothing(context: CaseContext) -> None:
    """Work with a feature id is as strong as work without, and is rejected where the uid has no direct access."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        camera = npu.app(npu.camera)
        for run in (InferenceRun(feature_id=_FEATURE), InferenceRun()):
            _has_the_rights_of_its_uid(npu, camera, run)


def _has_the_rights_of_its_uid(npu: SchedulingFixture, app: App, run: InferenceRun) -> None:
    """See that the config of the uid alone decides on a run: first on its priority, then on its access."""
    npu.configure(config(app.uid, 300))
    seen = len(app.events())
    app.works(run)
    npu.settle()
    for event in app.events()[seen:]:
        checks.equal(event.work.effective_priority, 300 + run.job_priority, "effective priority of a uid at 300")
    npu.configure(config(app.uid, 300, direct=False))
    app.is_rejected(run)


@cases.case("no_feature_id", "NPU-HAL-040")
def no_feature_id(context: CaseContext) -> None:
    """A run without a feature id does not have that of another run."""
    with scheduling_fixture(context) as npu:
        _events_of(npu, InferenceRun(feature_id=_FEATURE))
        for event in _events_of(npu):
            checks.that(event.work.debug_feature_id != _FEATURE, "debugFeatureId is that of an earlier run")


@cases.case("group_id", "NPU-HAL-033")
def group_id(context: CaseContext) -> None:
    """A group id is 16 bytes, and a start has that of its request; there may be none.

    Where the app names no effort each inference may be one, and the end of a burst is that of its last inference.
    """
    with scheduling_fixture(context) as npu:
        for _ in range(2):
            requested, started, ended = (event.work.group_id for event in _events_of(npu))
            checks.equal(started, requested, "group id of the start, as of its request")
            for group in {requested, ended} - {None}:
                checks.equal(len(group.uuid if group else b""), _UUID_BYTES, "length of the group id")


@cases.case("group_id_given", "NPU-HAL-033")
def group_id_given(context: CaseContext) -> None:
    """A group id that the app gives is that of all inferences of its run, and comes back as it was."""
    with scheduling_fixture(context) as npu:
        ids = (bytes(range(240, 240 + _UUID_BYTES)), bytes(_UUID_BYTES), bytes(_UUID_BYTES - 1) + b"1", b"\xff" * 16)
        for given in map(Uuid, ids):
            for event in _events_of(npu, InferenceRun(group_id=given)):
                checks.equal(event.work.group_id, given, f"group id in the {event.event_type} event")


@cases.case("group_ids_apart", "NPU-HAL-033")
def group_ids_apart(context: CaseContext) -> None:
    """Efforts of two apps have no group id in common, not even the first ones; those of one app ought to have none.

    Where an app names no effort, the HAL decides what one is: all that one app asks for may be.
    """
    with scheduling_fixture(context) as npu:
        if context.manifest.inference_tool is not None:
            raise NotApplicable("an inference tool may have one uid alone")
        npu.register_recorder()
        owners: dict[Uuid, set[tuple[int, int]]] = {}
        for app, effort in itertools.product(map(npu.app, _FRESH_UIDS[1:]), range(2)):
            seen = len(app.events())
            app.works()
            npu.settle()
            npu.first_event(app, seen)
            for event in app.events()[seen:]:
                if event.work.group_id is not None:
                    owners.setdefault(event.work.group_id, set()).add((app.uid, effort))
        shared = {group: who for group, who in owners.items() if len({uid for uid, _ in who}) > 1}
        checks.equal(shared, {}, "group ids of several apps' efforts (uid, effort)")
        if any(len(who) > 1 for who in owners.values()):
            context.warn_quality("two efforts of one app, one after the other, have one group id")


@cases.case("device_not_negative", "NPU-HAL-032")
def device_not_negative(context: CaseContext) -> None:
    """Device numbers start at 0."""
    with scheduling_fixture(context) as npu:
        for event in _events_of(npu):
            checks.that(event.work.device_number >= 0, f"device number: found {event.work.device_number}")


@cases.case("devices_consecutive", "NPU-HAL-032")
def devices_consecutive(context: CaseContext) -> None:
    """There is a device 0, and no device behind one that does not exist; work runs on the one it was sent to.

    Work that names none runs on any that there is.
    """
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        count = 0
        for number in range(_MOST_DEVICES):
            run = camera.start(InferenceRun(device_number=number))
            if not npu.end_of(run):
                break
            npu.settle()
            count += 1
        checks.that(count > 0, f"device 0: expected success, found {run.ending}")
        for number in (count, count + 1, count + 2, -1):
            camera.is_rejected(InferenceRun(device_number=number))
        for number in range(count):
            for event in _events_of(npu, InferenceRun(device_number=number)):
                checks.equal(event.work.device_number, number, "device number of work sent to it")
        for event in _events_of(npu):
            checks.member(event.work.device_number, range(count), "device number of work that names none")


@cases.case("feature_in_full", "NPU-HAL-040")
def feature_in_full(context: CaseContext) -> None:
    """Where a feature id is reported, it is the one that was submitted, however long and in whatever script."""
    with scheduling_fixture(context) as npu:
        npu.register_recorder()
        camera = npu.app(npu.camera)
        for name in ("f", "f" * 33, "f" * 300, "búsqueda", "搜索", 'a "b" \\ c', "  "):
            seen = len(camera.events())
            camera.works(InferenceRun(feature_id=name))
            npu.settle()
            found = {event.work.debug_feature_id for event in camera.events()[seen:]}
            checks.that(bool(found), f"events of work for {name!r}: found none")
            checks.that(found <= {name, None}, f"feature ids of work for {name!r}: found {found}")


@cases.case("fields_of_one_work", "NPU-HAL-033", "NPU-HAL-034", "NPU-HAL-039", "NPU-HAL-040")
def fields_of_one_work(context: CaseContext) -> None:
    """Where an app has several works at once, what an event says of one is not mixed with what is true of another."""
    _judge_fields(context, lambda _: None)


@cases.case("fields_of_cancelled_work", "NPU-HAL-033", "NPU-HAL-034", "NPU-HAL-039", "NPU-HAL-040")
def fields_of_cancelled_work(context: CaseContext) -> None:
    """The same where all these works are cancelled."""
    _judge_fields(context, lambda app: app.cancel())


def _judge_fields(context: CaseContext, end: Callable[[App], None]) -> None:
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.register_recorder()
        camera = npu.app(npu.camera)
        for jobs in itertools.permutations((0, 500, 1000)):
            runs = {
                job: InferenceRun(job, group_id=Uuid(bytes([job % 255]) * 16), feature_id=f"f{job}") for job in jobs
            }
            seen = len(camera.events())
            begun = []
            for run in runs.values():
                begun.append(camera.start_if_there_is_room(run))
                npu.pass_ms(1)
            npu.with_room(begun, within_ms=0)
            end(camera)
            npu.settle()
            npu.first_event(camera, seen)
            for event in camera.events()[seen:]:
                work = event.work
                checks.member(work.job_priority, jobs, f"job priority in the {event.event_type} event")
                given = runs[work.job_priority]
                what = f"of the {event.event_type} event about job {work.job_priority}"
                checks.member(work.group_id, (given.group_id, None), f"group id {what}")
                checks.member(work.debug_feature_id, (given.feature_id, None), f"feature id {what}")
