"""What holds of the events of any work, also of work that the suite has not brought and knows nothing of.

A subject without workload and inference tool is watched while it works for others: its own device executes models, or
somebody uses the NPU by hand. docs/npu-scheduling.md says how.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import MAX_PRIORITY
from npu_conformance.specs.npu.workload import OWN_WORK
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.events import Event
from npu_conformance.vts.lib.npu_scheduling.fixture import config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.real_time import TICK_MS

cases = CaseGroup("vts.npu_scheduling.observation", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_PRIORITY = 300
_STREAM = (
    "NPU-HAL-019", "NPU-HAL-008", "NPU-HAL-020", "NPU-HAL-021", "NPU-HAL-022", "NPU-HAL-023", "NPU-HAL-024",
    "NPU-HAL-027", "NPU-HAL-029", "NPU-HAL-030", "NPU-HAL-031", "NPU-HAL-032", "NPU-HAL-033", "NPU-HAL-034",
    "NPU-HAL-041",
)  # fmt: skip


@cases.case("stream", *_STREAM)
def stream(context: CaseContext) -> None:
    """The events of whatever work there is do not contradict each other: reasons, order, ids, times, gaps, numbers."""
    with scheduling_fixture(context) as npu:
        bring_work = observation.works(npu)
        npu.register_recorder()
        bring_work()
        events = tuple(npu.recorder.events)
    with context.configuration("reasons"):
        context.about("NPU-HAL-029", "NPU-HAL-030")
        observation.check_reasons(events)
    with context.configuration("order"):
        context.about("NPU-HAL-019", "NPU-HAL-023", "NPU-HAL-031", "NPU-HAL-041")
        observation.check_order(events)
    with context.configuration("ids"):
        context.about("NPU-HAL-020")
        observation.check_ids(events)
    with context.configuration("times"):
        context.about("NPU-HAL-021")
        observation.check_times(events)
    with context.configuration("gaps"):
        context.about("NPU-HAL-022", "NPU-HAL-024", "NPU-HAL-027")
        observation.check_gaps(events, npu.debounce_ms - TICK_MS)
    with context.configuration("numbers"):
        context.about("NPU-HAL-008", "NPU-HAL-032", "NPU-HAL-033", "NPU-HAL-034")
        observation.check_fields(events)


@cases.case("priority", "NPU-HAL-008", "NPU-HAL-003", "NPU-HAL-007", group=Group.SCHEDULING_DECISIONS)
def priority(context: CaseContext) -> None:
    """The work of a uid that is seen working is as strong as its config says: first without any, then at 300."""
    with scheduling_fixture(context) as npu:
        bring_work = observation.works(npu)
        npu.register_recorder()
        bring_work()
        uid = _expect_priority(npu.recorder.events, MAX_PRIORITY)
        npu.update(config(uid, _PRIORITY))
        seen = len(npu.recorder.events)
        bring_work()
        _expect_priority(npu.recorder.events[seen:], _PRIORITY, uid)


def _expect_priority(events: list[Event], expected: int, uid: int | None = None) -> int:
    """Check what the config of a uid, by default of the first, adds to its own jobs, and return the uid.

    The first burst may have begun before the config was in force.
    """
    for worker, own in observation.bursts_of(events).items():
        later = [event.work for burst in list(observation.split(own))[1:] for event in burst]
        works = [work for work in later if work.original_uid in (worker, OWN_WORK)]
        if works and uid in (None, worker):
            for work in works:
                what = f"effective priority of uid {worker} less that of the job"
                checks.equal(work.effective_priority - work.job_priority, expected, what)
            return worker
    raise NotApplicable("too little work was reported: no uid had two bursts of its own")
