"""Debouncing where time passes by itself, as on every device: by the HAL's own timestamps, and by when events arrive.

What is shown here is rougher than with a virtual clock (vts.npu_scheduling.debounce): a debounce time below 40 ms or
above 100 ms is noticed. A slow machine, a clock that ticks every 10 ms, or events on their way for long are not
mistaken for it: vts/lib/npu_scheduling/real_time.py says why.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.fixture import SLACK_MS, SchedulingFixture, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.real_time import TICK_MS, TRIES, Burst, Pair, bursts, pairs

cases = CaseGroup("vts.npu_scheduling.real_time", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_SMALL_GAP_MS = 25
"""Well below the debounce time, and above what debounces too little."""
_LARGE_GAP_MS = DEBOUNCE_DURATION_MS + 50
"""Above the debounce time by what a thread may be late that ends a burst."""
_LONG_DEBOUNCE_MS = 200
_SECOND = InferenceRun(job_priority=200)


@cases.case("end_is_withheld", "NPU-HAL-024", "NPU-HAL-027", "NPU-HAL-021")
def end_is_withheld(context: CaseContext) -> None:
    """The end arrives 50 ms after the moment that its timestamp names, at the earliest, and 150 ms at the latest.

    Earliest: from the call to the arrival of the end, less what lies between request and end by their timestamps, is at
    least the debounce time on every machine. Latest: from the arrival of the request to that of the end, less the
    same, is at most the debounce time and 100 ms more in the best of three tries.
    """
    with scheduling_fixture(context) as npu:
        npu.need_real_time()
        npu.register_recorder()
        _is_withheld(npu, DEBOUNCE_DURATION_MS)


def _is_withheld(npu: SchedulingFixture, debounce_ms: int) -> None:
    tried: list[Burst] = []
    for burst in bursts(npu, npu.app(npu.camera), debounce_ms):
        tried.append(burst)
        found = f"{burst.most_withheld_ms:.0f} ms or less after the work, which took {burst.took_ms} ms by its times"
        checks.that(burst.most_withheld_ms >= debounce_ms, f"the end came {found}: expected {debounce_ms} ms or more")
        if burst.withheld_ms <= debounce_ms + SLACK_MS and burst.most_withheld_ms <= debounce_ms + SLACK_MS:
            return
    soonest = min(burst.withheld_ms for burst in tried)
    what = f"the end came {soonest:.0f} ms after the time that it names, in the best of {TRIES} tries"
    checks.that(soonest <= debounce_ms + SLACK_MS, f"{what}: expected {debounce_ms + SLACK_MS} ms or less")
    raise NotApplicable("work begins so long after it is asked for that an early end would not be noticed")


@cases.case("given_time", "NPU-HAL-028", "NPU-HAL-024")
def given_time(context: CaseContext) -> None:
    """In the public page's profile the end is withheld for the time given with the callback, here 200 ms."""
    with scheduling_fixture(context) as npu:
        npu.need_real_time()
        npu.need_profile_of_page()
        npu.register_recorder(_LONG_DEBOUNCE_MS)
        _is_withheld(npu, _LONG_DEBOUNCE_MS)


@cases.case("small_gap", "NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-025", "NPU-HAL-027")
def small_gap(context: CaseContext) -> None:
    """A run 25 ms after another one belongs to its burst, whose end is that of the second run.

    Where the machine is so slow that there are two bursts, 40 ms or more lie between them by their own timestamps.
    """
    with scheduling_fixture(context) as npu:
        npu.need_real_time()
        npu.register_recorder()
        least = DEBOUNCE_DURATION_MS - TICK_MS
        for pair in pairs(npu, npu.app(npu.camera), _SECOND, _SMALL_GAP_MS):
            if pair.is_one_burst():
                _ends_with_the_second(pair)
                return
            what = "milliseconds between an end and the request of the next burst of its uid, by their timestamps"
            checks.that(pair.gap_ms >= least, f"{what}: expected {least} or more, found {pair.gap_ms}")
        raise NotApplicable(f"the second run never began within {least} ms of the end of the first")


def _ends_with_the_second(pair: Pair) -> None:
    requested, *_, ended = pair.events
    checks.equal(ended.work.job_priority, _SECOND.job_priority, "job priority of the end of a burst, that of its last")
    least = pair.second_ms - requested.arrived_ms - TICK_MS
    took = ended.work.timestamp_ms - requested.work.timestamp_ms
    checks.that(took >= least, f"end of the burst: expected {least:.0f} ms or more after its request, found {took}")


@cases.case("large_gap", "NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-027")
def large_gap(context: CaseContext) -> None:
    """A run 100 ms or more after another one has three events of its own, in one of three tries."""
    with scheduling_fixture(context) as npu:
        npu.need_real_time()
        npu.register_recorder()
        bridged: list[float] = []
        for pair in pairs(npu, npu.app(npu.camera), _SECOND, _LARGE_GAP_MS):
            if pair.is_one_burst():
                bridged.append(pair.rested_ms)
            elif pair.gap_ms <= _LARGE_GAP_MS + DEBOUNCE_DURATION_MS:
                return
        if len(bridged) < TRIES:
            raise NotApplicable("the second runs began so late that they tell nothing of the debounce time")
        what = f"requests {min(bridged):.0f} ms and more after the end of a burst: expected bursts of their own"
        checks.fail(what, f"after {DEBOUNCE_DURATION_MS} ms", f"all {TRIES} suppressed")
