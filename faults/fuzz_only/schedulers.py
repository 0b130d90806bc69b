"""Scheduling HALs that go wrong behind rare histories of work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.faults.fault import FaultySubject, FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal import scheduling_workload
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_events import WorkEvent
from npu_conformance.reference.hal.scheduling_workload import TestInferences
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

Edit = Callable[[SchedulingService, TestInferences], None]


def _runs_as(change: Callable[[InferenceRun], InferenceRun]) -> Edit:
    """Runs are others than those that were asked for."""

    def edit(service: SchedulingService, workload: TestInferences) -> None:
        run = workload.run_test_inference

        def changed(given: InferenceRun, callback: WorkloadCallback) -> None:
            run(change(given), callback)

        workload.run_test_inference = changed  # type: ignore[assignment, method-assign]

    return edit


def _strongest(given: InferenceRun) -> InferenceRun:
    is_odd = given.job_priority == 1000 and given.group_id is not None
    return replace(given, job_priority=0) if is_odd else given


def _third_callback(service: SchedulingService, workload: TestInferences) -> None:
    """The third callback that is registered hears each end twice."""
    register, tell, count = service.set_callback, service._tell, [0]

    def registered(callback: SchedulingCallback | None, *rest: int) -> None:
        count[0] += callback is not None
        register(callback, *rest)

    def told(event: WorkEvent) -> None:
        tell(event)
        if count[0] % 5 == 3 and event.reason == EndReason.CANCELLED_USER:
            tell(event)

    service.set_callback = registered  # type: ignore[assignment, method-assign]
    service._events._tell = told


def _failed_then_cancelled(service: SchedulingService, workload: TestInferences) -> None:
    """After a failure of its work a cancellation of the system is told as a failure."""
    end, failures = service.end_work, Counter[int]()

    def ended(uid: int, reason: EndReason) -> None:
        failures[uid] += reason is EndReason.FAILED and uid in service._live
        is_odd = reason is EndReason.CANCELLED_SYSTEM and failures[uid] % 3 == 1
        end(uid, EndReason.FAILED if is_odd else reason)

    service.end_work = ended  # type: ignore[method-assign]


def _three_alive(service: SchedulingService, workload: TestInferences) -> None:
    """Of three works of one app the hardware's failure leaves the last."""
    end = service.end_work

    def ended(uid: int, reason: EndReason) -> None:
        works = list(service._live.get(uid, ()))
        if len(works) >= 3 and reason is EndReason.FAILED:
            for work in works[:-1]:
                service.scheduler.end(work, reason)
        else:
            end(uid, reason)

    service.end_work = ended  # type: ignore[method-assign]


def _odd_debounce(service: SchedulingService, workload: TestInferences) -> None:
    """A debounce time of 51 to 63 ms is 50."""
    register = service.set_callback

    def registered(callback: SchedulingCallback | None, debounce: int = 50) -> None:
        register(callback, 50 if 50 < debounce < 64 else debounce)

    service.set_callback = registered  # type: ignore[assignment, method-assign]


def _scheduling(edit: Edit) -> FaultySubject:
    def create(context: Context, _: Version) -> Subject:
        service, workload, control = scheduling_workload.create(context, VirtualClock())
        edit(service, workload)
        return Subject(scheduling=service, workload=workload, scheduling_control=control)

    interfaces: tuple[InterfaceName, ...] = ("scheduling", "workload", "scheduling_control")
    return FaultySubject(create, interfaces, manifest=lambda: {"npu_profile": "page"})


FAULTS: tuple[FuzzFault, ...] = rows(
    "scheduling",
    ("wraps-job", "The weakest job with a group is the strongest.",
     "NPU-HAL-034", _scheduling(_runs_as(_strongest))),
    ("third-callback", "The third callback hears each cancellation twice.",
     "NPU-HAL-019", _scheduling(_third_callback)),
    ("failed-then-cancelled", "After a failure the system's cancellation of a uid is told as a failure.",
     "NPU-HAL-030", _scheduling(_failed_then_cancelled)),
    ("three-alive", "A failure under three works of an app leaves the last.", "NPU-HAL-030", _scheduling(_three_alive)),
    ("odd-debounce", "Debounce times of 51 to 63 ms are 50.", "NPU-HAL-028", _scheduling(_odd_debounce)),
)  # fmt: skip
