"""Debouncing for each uid: a burst of work is one request, one start, one end (ISchedulingCallback's rules).

Where a moment matters the subject has a virtual clock, and vts.npu_scheduling.real_time asks the same more roughly; the
runs themselves, which are bursts of inferences, are judged on any clock (vts.npu_scheduling.work.undisturbed).
"""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    REQUESTED,
    STARTED,
    UNDISTURBED,
    Notification,
    Recorder,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import (
    SLACK_MS,
    SchedulingFixture,
    config,
    gaps_ms,
    scheduling_fixture,
)

cases = CaseGroup("vts.npu_scheduling.debounce", interface="scheduling", group=Group.SCHEDULING_EVENTS)

TWICE = (*UNDISTURBED, *UNDISTURBED)
_MARGIN_MS = 15
"""More than the time between two looks for the end of a run."""
_GAP_MS = 20
"""Less than the debounce time that holds by default, and far more than an inference waits for the next of its run."""
_DURATIONS_MS = (2, 7, 20, 49, 51, 255, 257, 4295, 65_537, 65_586, 131_072 + 300, 500)
"""Those at which numbers of 8 and 16 bits, and 32 bits of microseconds, end; at last a usual one."""


def _two_runs(context: CaseContext, gap_ms: int, *expected: Notification, debounce_ms: int | None = None) -> None:
    """Run twice with a pause between end and request."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        if debounce_ms is not None:
            npu.need_profile_of_page()
        camera = npu.app(npu.camera)
        npu.register_recorder(debounce_ms)
        camera.works(step_ms=1)
        npu.pass_ms(gap_ms)
        camera.works(step_ms=1)
        npu.settle(debounce_ms)
        npu.expect(camera, *expected)


@cases.case("at_once", "NPU-HAL-022", "NPU-HAL-023", "NPU-HAL-025")
def at_once(context: CaseContext) -> None:
    """A request at the moment of the end belongs to the same burst."""
    _two_runs(context, 0, *UNDISTURBED)


@cases.case("nothing_ends_it_early", "NPU-HAL-024", "NPU-HAL-026")
def nothing_ends_it_early(context: CaseContext) -> None:
    """Whatever else happens, an end is withheld for the debounce time: configs, work of others, a vain cancellation."""
    deeds: dict[str, Callable[[SchedulingFixture, App, App], object]] = {
        "updating its config": lambda npu, camera, _: npu.update(config(camera.uid, 300)),
        "setting other configs": lambda npu, _, other: npu.configure(config(other.uid, 300)),
        "clearing the configs": lambda npu, *_: npu.configure(),
        "a run of another uid": lambda _, __, other: other.start(),
        "cancelling what is over": lambda _, camera, __: camera.cancel(),
    }
    for deed, do in deeds.items():
        with scheduling_fixture(context) as npu:
            npu.need_virtual_clock()
            camera, other = npu.app(npu.camera), npu.app(npu.assistant)
            npu.register_recorder()
            camera.works(step_ms=1)
            npu.pass_ms(DEBOUNCE_DURATION_MS // 2)
            do(npu, camera, other)
            npu.pass_ms(DEBOUNCE_DURATION_MS // 2 - 1)
            checks.equal(camera.received(), [REQUESTED, STARTED], f"events 49 ms after an end, behind {deed}")
            npu.settle()
            npu.expect(camera, *UNDISTURBED)


@cases.case("gap_below", "NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-027")
def gap_below(context: CaseContext) -> None:
    """A request 49 ms after the end is suppressed, and so is the end."""
    _two_runs(context, DEBOUNCE_DURATION_MS - 1, *UNDISTURBED)


@cases.case("gap_equal", "NPU-HAL-022", "NPU-HAL-027")
def gap_equal(context: CaseContext) -> None:
    """A request 50 ms after the end is not within the debounce time: it begins a new burst."""
    _two_runs(context, DEBOUNCE_DURATION_MS, *TWICE)


@cases.case("gap_above", "NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-027")
def gap_above(context: CaseContext) -> None:
    """A request 51 ms after the end begins a new burst, with an end before it and events of its own."""
    _two_runs(context, DEBOUNCE_DURATION_MS + 1, *TWICE)


@cases.case("longer", "NPU-HAL-028")
def longer(context: CaseContext) -> None:
    """In the public page's profile the time is the one given with the callback: 200 ms bridge a gap of 199."""
    _two_runs(context, 199, *UNDISTURBED, debounce_ms=200)


@cases.case("longer_over", "NPU-HAL-028")
def longer_over(context: CaseContext) -> None:
    """In the public page's profile a debounce time of 200 ms does not bridge a gap of 200."""
    _two_runs(context, 200, *TWICE, debounce_ms=200)


@cases.case("shorter", "NPU-HAL-028")
def shorter(context: CaseContext) -> None:
    """A debounce time of 5 ms, or a longer one that a run needs to be one burst, does not bridge 25 ms more."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        debounce_ms = max(5, npu.bridging_ms(camera))
    _two_runs(context, debounce_ms + 25, *TWICE, debounce_ms=debounce_ms)


@cases.case("zero", "NPU-HAL-028")
def zero(context: CaseContext) -> None:
    """A debounce time of 0 is taken: the burst of a run may then be several, each with its three events."""
    with scheduling_fixture(context) as npu:
        npu.need_profile_of_page()
        camera = npu.app(npu.camera)
        npu.register_recorder(0)
        camera.works()
        npu.settle()
        received = camera.received()
        checks.that(bool(received), "events of a run: expected some, found none")
        checks.equal(received, list(UNDISTURBED) * (len(received) // len(UNDISTURBED)), "events of the run")


@cases.case("zero_withholds_nothing", "NPU-HAL-028", "NPU-HAL-024")
def zero_withholds_nothing(context: CaseContext) -> None:
    """With a debounce time of 0 no gap is bridged: an end is notified, and a run 20 ms behind it is requested anew."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        camera = npu.app(npu.camera)
        npu.register_recorder(0)
        camera.works(step_ms=1)
        npu.pass_ms(_GAP_MS)
        camera.works(step_ms=1)
        npu.settle(0)
        received = camera.received()
        checks.equal(received, list(UNDISTURBED) * (len(received) // len(UNDISTURBED)), "events of two runs")
        gaps = gaps_ms(camera.events())
        checks.that(max(gaps, default=0) > _GAP_MS // 2, f"gap of {_GAP_MS} ms between two runs: it is bridged")


@cases.case("default_returns", "NPU-HAL-027", "NPU-HAL-028")
def default_returns(context: CaseContext) -> None:
    """A registration without a debounce time has the default, whatever an earlier one asked for."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        npu.need_profile_of_page()
        camera = npu.app(npu.camera)
        npu.register_recorder(500)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(DEBOUNCE_DURATION_MS + SLACK_MS)
        npu.expect(camera, *UNDISTURBED)


@cases.case("end_is_withheld", "NPU-HAL-024", "NPU-HAL-027")
def end_is_withheld(context: CaseContext) -> None:
    """The end is not notified before the debounce time has passed, and is notified then."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(DEBOUNCE_DURATION_MS - 2)
        npu.expect(camera, REQUESTED, STARTED)
        npu.pass_ms(2 + SLACK_MS)
        npu.expect(camera, *UNDISTURBED)


@cases.case("end_is_withdrawn", "NPU-HAL-024", "NPU-HAL-025")
def end_is_withdrawn(context: CaseContext) -> None:
    """A request withdraws the end that waits, also when the new work lasts longer than the debounce time."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works(step_ms=1)
        npu.pass_ms(10)
        second = camera.start()
        npu.pass_ms(DEBOUNCE_DURATION_MS + SLACK_MS)
        npu.need_running(second)
        npu.expect(camera, REQUESTED, STARTED)
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("many_runs", "NPU-HAL-025")
def many_runs(context: CaseContext) -> None:
    """Five runs with small gaps are one burst."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        for gap_ms in (30, 40, 10, 45, 0):
            camera.works(step_ms=1)
            npu.pass_ms(gap_ms)
        npu.settle()
        npu.expect(camera, *UNDISTURBED)


@cases.case("end_of_the_last", "NPU-HAL-024")
def end_of_the_last(context: CaseContext) -> None:
    """The end of a burst has the time and the job priority of its last work."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works(InferenceRun(job_priority=100), step_ms=1)
        npu.pass_ms(20)
        camera.works(InferenceRun(job_priority=200), step_ms=1)
        took = npu.passed_ms
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        requested, _, ended = (event.work for event in camera.events())
        checks.equal(ended.job_priority, 200, "job priority of the end of a burst")
        late = ended.timestamp_ms - requested.timestamp_ms
        checks.that(took - 1 <= late <= took, f"end of the burst: expected {took} ms after its request, found {late}")


@cases.case("during_work", "NPU-HAL-022", "NPU-HAL-023", "NPU-HAL-025")
def during_work(context: CaseContext) -> None:
    """A request of a uid whose work is going on is suppressed; the burst ends with the last of both."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        first = camera.start()
        npu.wait(lambda: STARTED in camera.received(), "start of the inferences")
        npu.pass_ms(2 * DEBOUNCE_DURATION_MS)
        npu.need_running(first)
        second = camera.start()
        for run in (first, second):
            npu.succeeds(run, "inferences")
        npu.settle()
        if npu.is_in_real_time and camera.received() == list(TWICE):
            raise NotApplicable("the second run began only after the first was over")
        npu.expect(camera, *UNDISTURBED)


@cases.case("after_long_silence", "NPU-HAL-022", "NPU-HAL-025")
def after_long_silence(context: CaseContext) -> None:
    """Work long after the last one has its own three events, on any clock."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        for _ in range(2):
            camera.works()
            npu.settle()
        npu.expect(camera, *TWICE)


@cases.case("silence_after_the_end", "NPU-HAL-019", "NPU-HAL-024")
def silence_after_the_end(context: CaseContext) -> None:
    """After the end of a burst nothing more is notified of it."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.register_recorder()
        camera.works()
        npu.settle()
        npu.pass_ms(10_000)
        npu.expect(camera, *UNDISTURBED)
        checks.equal(camera.received()[-1], COMPLETED, "last event")


@cases.case("any_duration", "NPU-HAL-028", "NPU-HAL-024", "NPU-HAL-027")
def any_duration(context: CaseContext) -> None:
    """A registration may name any debounce time: ends are withheld for as long. One above 10 s may be refused.

    Shorter ones than the gaps between the inferences of a run are left out: they make several bursts of it.
    """
    with scheduling_fixture(context) as npu:
        npu.need_profile_of_page()
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        shortest_ms = npu.bridging_ms(camera)
        for duration_ms in (one for one in _DURATIONS_MS if one >= shortest_ms):
            if not npu.is_registered_with(npu.recorder, duration_ms):
                continue
            seen = len(camera.events())
            npu.succeeds(camera.start(), "inferences")
            npu.pass_ms(max(0, duration_ms - _MARGIN_MS))
            if duration_ms > _MARGIN_MS:
                received = [event.notification for event in camera.events()[seen:]]
                checks.equal(received, [REQUESTED, STARTED], f"events before {duration_ms} ms have passed since an end")
            npu.pass_ms(_MARGIN_MS + SLACK_MS)
            received = [event.notification for event in camera.events()[seen:]]
            checks.equal(received, list(UNDISTURBED), f"events once {duration_ms} ms have passed since the end")


@cases.case("rejected_registration", "NPU-HAL-016", "NPU-HAL-017", "NPU-HAL-028")
def rejected_registration(context: CaseContext) -> None:
    """A registration that is rejected leaves the callback that there was, and its debounce time."""
    with scheduling_fixture(context) as npu:
        npu.need_profile_of_page()
        npu.need_virtual_clock()
        camera, other = npu.app(npu.camera), Recorder()
        npu.register_recorder(_DURATIONS_MS[-1])
        try:
            npu.scheduling.set_callback(other, -1)
        except IllegalArgument:
            pass
        else:
            raise NotApplicable("a negative debounce time is taken")
        npu.succeeds(camera.start(), "inferences")
        npu.pass_ms(_DURATIONS_MS[-1] - _MARGIN_MS)
        checks.equal(camera.received(), [REQUESTED, STARTED], "events within the time of the registration that counts")
        npu.pass_ms(_MARGIN_MS + SLACK_MS)
        checks.equal(camera.received(), list(UNDISTURBED), "events of the callback that was registered before")
        checks.equal(other.events, [], "events of a callback whose registration was rejected")
