"""Watches what a scheduling HAL reports of work, whoever brings it, and what holds of every such stream.

Work comes from what the plug-in has: a workload or an inference tool, else executions through the device of the same
subject, else whoever works with the NPU by hand meanwhile. Nothing is known of such work but its events. So a stream
may begin and stop in the midst of work, and only what contradicts itself is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.handle import Application
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.npu.types import EndReason, StartReason
from npu_conformance.vts.lib.chain import SHORT, Runner, longest
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    PAUSED,
    REQUESTED,
    RESUMED,
    STARTED,
    Event,
    Notification,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture
from npu_conformance.vts.lib.npu_scheduling.submissions import spelled

_BURSTS = 2
_EXECUTIONS, _REST_MS = 4, 20
"""Executions of a burst, and the time between them: well below the debounce time."""
_START = (-4.0, -6.0)
_BY_HAND_SECONDS = 2.0
"""For so long is watched what others do, before time_scale."""
NO_WORK = (
    "no work was reported: the subject has neither workload nor inference tool nor device, and nobody used the NPU"
)
NOT_WORK = "no work was reported while models were executed: executions are not work of this HAL"


def works(npu: SchedulingFixture) -> Callable[[], None]:
    """Return what brings bursts of work with pauses between them, and returns once their events have arrived.

    NotApplicable where the clock is virtual and only the device could bring work, or nobody.
    """
    subject, manifest = npu.context.subject.interfaces, npu.context.manifest
    if subject.workload is not None or manifest.inference_tool is not None:
        return lambda: _run(npu)
    if npu.context.subject.ignores_tool and subject.device is None:
        npu.app(npu.camera)  # says which option brings the tool back
    npu.need_real_time()
    if subject.device is None:
        return lambda: _watch(npu)
    runner = Runner(npu.context, longest(npu.context, SHORT), _START, application=_camera(npu))
    npu.settle()  # what the runner has tried itself is over
    return lambda: _execute(npu, runner)


def _camera(npu: SchedulingFixture) -> Application | None:
    """The app that executes models; None, which is the harness, where the transport cannot tell apps apart."""
    try:
        return npu.context.application(npu.camera)
    except NotApplicable:
        return None


def _run(npu: SchedulingFixture) -> None:
    camera = npu.app(npu.camera)
    for _ in range(_BURSTS):
        camera.works()
        npu.settle()
    npu.first_event(camera)


def _execute(npu: SchedulingFixture, runner: Runner) -> None:
    for _ in range(_BURSTS):
        for _ in range(_EXECUTIONS):
            checks.status(runner.execute().status, {ErrorStatus.NONE}, "execution")
            npu.rest(_REST_MS)
        npu.settle()
    if not npu.recorder.events:
        raise NotApplicable(NOT_WORK)


def _watch(npu: SchedulingFixture) -> None:
    npu.rest(int(_BY_HAND_SECONDS * 1000 * npu.context.manifest.time_scale))
    if not npu.recorder.events:
        raise NotApplicable(NO_WORK)


def bursts_of(events: Sequence[Event]) -> dict[int, list[Event]]:
    """The events of each uid, from its first request on: what comes before belongs to work that was going on."""
    found: dict[int, list[Event]] = {}
    for event in events:
        if event.work.uid in found or event.notification == REQUESTED:
            found.setdefault(event.work.uid, []).append(event)
    return found


def check_reasons(events: Sequence[Event]) -> None:
    """Every start and every end has a reason that exists (NPU-HAL-029, -030)."""
    legal = {"requested": {None}, "started": {*StartReason}, "ended": {*EndReason}}
    for event in events:
        with checks.about("NPU-HAL-030" if event.event_type == "ended" else "NPU-HAL-029"):
            checks.member(event.reason, legal[event.event_type], f"reason of a {event.event_type} event")


def check_order(events: Sequence[Event], ended_early: Collection[int] = ()) -> None:
    """Each work is requested, started and ended, in this order; only a pause is followed by a start as RESUMED.

    ended_early: uids of which work was ended from outside. Where that was the first one of a burst, and had not begun
    yet, the start of none is notified (rule 2 of ISchedulingCallback), though others of the burst may complete.
    """
    for uid, own in bursts_of(events).items():
        for before, after in itertools.pairwise(event.notification for event in own):
            unstarted = uid in ended_early and (before, after) == (REQUESTED, COMPLETED)
            with checks.about(*_order_rules(before, after)):
                checks.that(
                    unstarted or _may_follow(before, after), f"events of uid {uid}: {before} is followed by {after}"
                )


def _order_rules(before: Notification, after: Notification) -> tuple[str, ...]:
    """What breaks where an event may not come behind another: of a start its reason alone, of a request its time."""
    if after[0] == "started" and before in (REQUESTED, PAUSED):
        return ("NPU-HAL-029",)
    if after == REQUESTED:
        return ("NPU-HAL-019", "NPU-HAL-022")
    return ("NPU-HAL-019",)


def _may_follow(before: Notification, after: Notification) -> bool:
    """True where one event of a uid may come right after another one. What never started may end, but not complete."""
    if before == REQUESTED:
        return after == STARTED or (_is_end(after) and after != COMPLETED)
    if before[0] == "started":
        return after[0] == "ended"
    if before == PAUSED:
        return after == RESUMED or _is_end(after)
    return after == REQUESTED


def _is_end(one: Notification) -> bool:
    return one[0] == "ended" and one != PAUSED


@checks.about("NPU-HAL-020")
def check_ids(events: Sequence[Event]) -> None:
    """Ids of a uid never decrease, and no id is of two bursts, be it of one uid or of two (NPU-HAL-020)."""
    owners: dict[int, set[tuple[int, int]]] = {}
    for uid, own in bursts_of(events).items():
        ids = [event.work.id for event in own]
        checks.equal(ids, sorted(ids), f"ids of uid {uid} in order of arrival")
        for number, burst in enumerate(split(own)):
            for event in burst:
                owners.setdefault(event.work.id, set()).add((uid, number))
    shared = {number: sorted(who) for number, who in owners.items() if len(who) > 1}
    checks.equal(shared, {}, "ids that are of several bursts (uid, number)")


def split(own: Sequence[Event]) -> Iterator[list[Event]]:
    """The bursts of a uid: each begins with a request."""
    burst: list[Event] = []
    for event in own:
        if event.notification == REQUESTED and burst:
            yield burst
            burst = []
        burst.append(event)
    if burst:
        yield burst


@checks.about("NPU-HAL-021")
def check_times(events: Sequence[Event]) -> None:
    """Timestamps of a uid never go back (NPU-HAL-021)."""
    for uid, own in bursts_of(events).items():
        times = [event.work.timestamp_ms for event in own]
        checks.equal(times, sorted(times), f"timestamps of uid {uid} in order of arrival")


@checks.about("NPU-HAL-024")
def check_gaps(events: Sequence[Event], least_ms: int) -> None:
    """A burst is requested so long after the end of the one before it, at least (NPU-HAL-022, -024)."""
    for uid, own in bursts_of(events).items():
        for before, after in itertools.pairwise(own):
            gap_ms = after.work.timestamp_ms - before.work.timestamp_ms
            if after.notification == REQUESTED:
                what = f"ms between an end and the next request of uid {uid}, by their timestamps"
                checks.that(gap_ms >= least_ms, f"{what}: expected {least_ms} or more, found {gap_ms}")


def check_fields(events: Sequence[Event]) -> None:
    """Numbers of work are within their ranges, and a group id has its length (NPU-HAL-008, -032 to -034)."""
    for work in (event.work for event in events):
        with checks.about("NPU-HAL-034"):
            checks.that(0 <= work.job_priority <= 1000, f"job priority of uid {work.uid}: found {work.job_priority}")
        with checks.about("NPU-HAL-008"):
            checks.that(0 <= work.effective_priority <= 2000, f"effective priority: found {work.effective_priority}")
        with checks.about("NPU-HAL-032"):
            checks.that(work.device_number >= 0, f"device number: found {work.device_number}")
        with checks.about("NPU-HAL-033"):
            length = 16 if work.group_id is None else len(work.group_id.uuid)
            checks.equal(length, 16, "length of a group id")


@checks.about("NPU-HAL-023")
def check_starts(events: Sequence[Event]) -> None:
    """The first start of a burst is that of the work whose request was notified (rule 2 of ISchedulingCallback).

    NPU-HAL-023: what was submitted with a work shows which one it is; its effective priority may change meanwhile.
    """
    for uid, own in bursts_of(events).items():
        for before, after in itertools.pairwise(own):
            if (before.notification, after.notification) == (REQUESTED, STARTED):
                for (name, found), (_, expected) in zip(_labels(after), _labels(before), strict=True):
                    if found != expected:
                        what = f"{name} of the work whose start follows a request of uid {uid}"
                        checks.fail(what, f"{spelled(expected)}, that of the request", spelled(found))


def _labels(event: Event) -> tuple[tuple[str, object], ...]:
    work = event.work
    return (
        ("original uid", work.original_uid),
        ("job priority", work.job_priority),
        ("device", work.device_number),
        ("feature", work.debug_feature_id),
        ("group", work.group_id),
    )
