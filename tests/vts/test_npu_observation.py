"""What contradicts itself in a stream of events, and what does not: streams that nobody explains."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.npu.types import Uuid, WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    FAILED,
    PAUSED,
    REQUESTED,
    RESUMED,
    STARTED,
    SYSTEM,
    UNDISTURBED,
    USER,
    Event,
    Notification,
)
from npu_conformance.vts.lib.npu_scheduling.submissions import check_told, differences

ONE, OTHER = 10_001, 10_002


def event(notification: Notification, uid: int = ONE, id_: int = 1, timestamp_ms: int = 0) -> Event:
    kind, reason = notification
    return Event(kind, WorkInfo(id_, uid, uid, 500, 1500, timestamp_ms, 0), reason, 0.0)


def stream(*notifications: Notification) -> list[Event]:
    """Events of one uid, 100 ms apart, each with a larger id."""
    return [event(one, ONE, number, 100 * number) for number, one in enumerate(notifications)]


@pytest.mark.parametrize(
    "notifications",
    [
        (),
        (*UNDISTURBED, *UNDISTURBED),
        (REQUESTED, STARTED, PAUSED, RESUMED, PAUSED, RESUMED, COMPLETED),
        (REQUESTED, STARTED, PAUSED, USER),
        (REQUESTED, SYSTEM, REQUESTED, STARTED, FAILED),
        (COMPLETED, *UNDISTURBED),
        (RESUMED, COMPLETED, REQUESTED),
    ],
)
def test_streams_that_may_be(notifications: tuple[Notification, ...]) -> None:
    events = stream(*notifications)
    observation.check_order(events)
    observation.check_reasons(events)
    observation.check_ids(events)
    observation.check_times(events)
    observation.check_gaps(events, 40)
    observation.check_fields(events)


@pytest.mark.parametrize(
    "notifications",
    [
        (REQUESTED, REQUESTED),
        (REQUESTED, COMPLETED),
        (REQUESTED, RESUMED),
        (REQUESTED, PAUSED),
        (REQUESTED, STARTED, STARTED),
        (REQUESTED, STARTED, REQUESTED),
        (REQUESTED, STARTED, PAUSED, STARTED),
        (REQUESTED, STARTED, PAUSED, REQUESTED),
        (*UNDISTURBED, COMPLETED),
        (*UNDISTURBED, STARTED),
        (*UNDISTURBED, RESUMED),
    ],
)
def test_what_may_not_follow(notifications: tuple[Notification, ...]) -> None:
    with pytest.raises(Failed, match=r"is followed by"):
        observation.check_order(stream(*notifications))


def test_each_uid_has_an_order_of_its_own() -> None:
    own = [event(one, uid) for one in UNDISTURBED for uid in (ONE, OTHER)]
    observation.check_order(own)


def test_an_id_is_not_of_two_uids_and_not_of_two_bursts() -> None:
    observation.check_ids([event(one, ONE, 7) for one in UNDISTURBED])
    with pytest.raises(Failed, match="several bursts"):
        observation.check_ids([event(one, uid, 7) for one in UNDISTURBED for uid in (ONE, OTHER)])
    with pytest.raises(Failed, match="several bursts"):
        observation.check_ids([event(one, ONE, 7) for one in (*UNDISTURBED, *UNDISTURBED)])


def test_ids_and_times_do_not_go_back() -> None:
    with pytest.raises(Failed, match="ids of uid"):
        observation.check_ids([event(REQUESTED, id_=2), event(STARTED, id_=1)])
    with pytest.raises(Failed, match="timestamps of uid"):
        observation.check_times([event(REQUESTED, timestamp_ms=2), event(STARTED, timestamp_ms=1)])


def test_a_gap_between_bursts_is_not_shorter_than_the_debounce_time() -> None:
    def bursts(gap_ms: int) -> list[Event]:
        return [*(event(one) for one in UNDISTURBED), event(REQUESTED, timestamp_ms=gap_ms)]

    observation.check_gaps(bursts(40), 40)
    with pytest.raises(Failed, match="expected 40 or more, found 39"):
        observation.check_gaps(bursts(39), 40)


def test_reasons_exist() -> None:
    wrong = (Notification("requested", 0), Notification("started", 2), Notification("ended", 5), Notification("ended"))
    for each in wrong:
        with pytest.raises(Failed, match="reason of a"):
            observation.check_reasons([event(each)])


def test_a_start_of_other_work_than_was_requested_names_the_field() -> None:
    requested, started = event(REQUESTED), event(STARTED, id_=2)
    other = replace(started.work, job_priority=2)
    expected = f"job priority of the work whose start follows a request of uid {ONE}: expected 500, that of the request"
    with pytest.raises(Failed, match=f"^{expected}, found 2$"):
        observation.check_starts([requested, Event("started", other, started.reason, 0.0)])


def test_an_event_that_is_of_no_run_names_the_field_and_its_requirement() -> None:
    run = InferenceRun(job_priority=0, feature_id="a" * 300, group_id=Uuid(bytes(16)))
    work = WorkInfo(1, ONE, ONE, 0, 1000, 0, 0, debug_feature_id="a" * 300, group_id=Uuid(bytes(16)))
    assert differences(work, run, ONE, 7, {1000}) == ()
    wrong = replace(work, debug_feature_id="b" * 300)
    with pytest.raises(Failed) as caught:
        check_told(Event("ended", wrong, 4, 0.0), differences(wrong, run, ONE, 7, {1000}), run)
    assert str(caught.value) == (
        f"feature in the event ended of uid {ONE}: expected {'a' * 20!r}... (300 characters) or none, "
        f"found {'b' * 20!r}... (300 characters); "
        f"submitted was work of job priority 0, feature {'a' * 20!r}... (300 characters), group {'0' * 32}"
    )
    assert caught.value.about == ("NPU-HAL-040",)


@pytest.mark.parametrize(
    "wrong",
    [
        WorkInfo(1, ONE, ONE, 1001, 1500, 0, 0),
        WorkInfo(1, ONE, ONE, -1, 1500, 0, 0),
        WorkInfo(1, ONE, ONE, 500, 2001, 0, 0),
        WorkInfo(1, ONE, ONE, 500, 1500, 0, -1),
        WorkInfo(1, ONE, ONE, 500, 1500, 0, 0, group_id=Uuid(b"short")),
    ],
)
def test_numbers_are_within_their_ranges(wrong: WorkInfo) -> None:
    with pytest.raises(Failed):
        observation.check_fields([Event("requested", wrong, None, 0.0)])


def test_events_read_alike_where_they_are_expected_and_where_they_arrive() -> None:
    arrived = [
        Notification("requested"),
        Notification("started", 1),
        Notification("ended", 4),
        Notification("ended", 9),
    ]
    assert repr(arrived) == "[requested, started RESUMED, ended COMPLETED, ended 9]"
    assert arrived[2] == COMPLETED
