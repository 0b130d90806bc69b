"""Scheduling HALs with bugs that only some histories show. Option `bug` says which one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.device.scheduler import Work
from npu_conformance.reference.hal import scheduling_workload
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_events import Debouncer, WorkEvent
from npu_conformance.reference.hal.scheduling_workload import TestInferences
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import EndReason, SchedulingConfig
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback
from npu_conformance.specs.plugin import Context, Plugin, Subject


def _loses(service: SchedulingService, workload: TestInferences) -> None:
    """Work that is cancelled while it is paused is forgotten: its app never hears of it."""
    end = service.scheduler.end

    def ended(work: Work, reason: EndReason) -> None:
        is_paused = work.has_started and work is not service.scheduler._devices[work.device_number].running
        if is_paused and not work.has_ended:
            work.has_ended = True
            service._events.ended(work, reason)
        else:
            end(work, reason)

    service.scheduler.end = ended  # type: ignore[method-assign]


def _half_updates(service: SchedulingService, workload: TestInferences) -> None:
    """An update that is refused for its last config has changed the ones before."""
    update = service.update_scheduling_configs

    def updated(configs: tuple[SchedulingConfig, ...]) -> None:
        if len(configs) > 1 and configs[-1].priority > 1000:
            update(configs[:1])
        update(configs)

    service.update_scheduling_configs = updated  # type: ignore[method-assign]


def _withdraws_of_others(service: SchedulingService, workload: TestInferences) -> None:
    """A request for another uid withdraws that one's end, too."""
    requested = service._events.requested

    def noted(work: Work) -> None:
        other = service._events._bursts.get(work.original_uid) if work.original_uid != work.uid else None
        if other is not None:
            other.withheld = None
        requested(work)

    service._events.requested = noted  # type: ignore[method-assign]


def _remembers_callback(service: SchedulingService, workload: TestInferences) -> None:
    """An end that waits when the callback is replaced goes to the old one."""
    withhold, tell = Debouncer._withhold, service._tell
    owners: dict[WorkEvent, SchedulingCallback | None] = {}

    def withheld(burst: Any, end: WorkEvent) -> None:
        owners[end] = service._callback
        withhold(service._events, burst, end)

    def told(event: WorkEvent) -> None:
        owner = owners.pop(event, None)
        if owner is not None and event.reason == EndReason.CANCELLED_SYSTEM:
            newest, service._callback = service._callback, owner
            tell(event)
            service._callback = newest
        else:
            tell(event)

    service._events._withhold = withheld  # type: ignore[method-assign]
    service._events._tell = told


def _keeps_configs(service: SchedulingService, workload: TestInferences) -> None:
    """A replacing call leaves the configs of uids that have work."""
    replaced = service.set_scheduling_configs

    def set_configs(configs: tuple[SchedulingConfig, ...]) -> None:
        kept = [one for uid, one in service._configs.items() if uid in service._live]
        named = {config.uid for config in configs}
        replaced((*configs, *(one for one in kept if one.uid not in named)))

    service.set_scheduling_configs = set_configs  # type: ignore[method-assign]


def _ends_twice(service: SchedulingService, workload: TestInferences) -> None:
    """Between two replacing calls: a run that fails behind an earlier failure of its uid's hardware ends twice."""
    run, failed = workload.run_test_inference, set[int]()
    _at_each_set(service, failed.clear)

    def begun(given: InferenceRun, callback: WorkloadCallback) -> None:
        uid = workload._caller().uid
        run(given, _Again(callback) if uid in failed else callback)

    end = service.end_work

    def ended(uid: int, reason: EndReason) -> None:
        if reason is EndReason.FAILED and uid in service._live:
            failed.add(uid)
        end(uid, reason)

    workload.run_test_inference = begun  # type: ignore[assignment, method-assign]
    service.end_work = ended  # type: ignore[method-assign]


def _at_each_set(service: SchedulingService, forget: Callable[[], None]) -> None:
    replaced = service.set_scheduling_configs

    def set_configs(configs: tuple[SchedulingConfig, ...]) -> None:
        forget()
        replaced(configs)

    service.set_scheduling_configs = set_configs  # type: ignore[method-assign]


class _Again(WorkloadCallback):
    def __init__(self, inner: WorkloadCallback) -> None:
        self._inner = inner

    def on_run_ended(self, succeeded: bool) -> None:
        self._inner.on_run_ended(succeeded)
        if not succeeded:
            self._inner.on_run_ended(succeeded)


def _ranks_late(service: SchedulingService, workload: TestInferences) -> None:
    """Work that is ranked anew while it is paused goes to the end of the world: it is never resumed."""
    rank: Callable[[Work, int], None] = service.scheduler.rank

    def ranked(work: Work, priority: int) -> None:
        if work.has_started and work is not service.scheduler._devices[work.device_number].running:
            work.effective_priority = priority
        else:
            rank(work, priority)

    service.scheduler.rank = ranked  # type: ignore[assignment, method-assign]


def _forgets_rights(service: SchedulingService, workload: TestInferences) -> None:
    """A second update of a uid with work gives it direct access until all configs are replaced."""
    check: Callable[[int], None] = service._check_access
    updated: dict[int, int] = {}
    update = service.update_scheduling_configs
    _at_each_set(service, updated.clear)

    def noted(configs: Iterable[SchedulingConfig]) -> None:
        update(tuple(configs))
        for config in configs:
            if config.uid in service._live:
                updated[config.uid] = updated.get(config.uid, 0) + 1

    service.update_scheduling_configs = noted  # type: ignore[method-assign]
    service._check_access = lambda uid: None if updated.get(uid, 0) > 1 else check(uid)  # type: ignore[method-assign]


BUGS: dict[str, Callable[[SchedulingService, TestInferences], None]] = {
    "loses": _loses,
    "half-updates": _half_updates,
    "withdraws-of-others": _withdraws_of_others,
    "remembers-callback": _remembers_callback,
    "keeps-configs": _keeps_configs,
    "ends-twice": _ends_twice,
    "ranks-late": _ranks_late,
    "forgets-rights": _forgets_rights,
}


def _create(context: Context) -> Subject:
    service, workload, control = scheduling_workload.create(context, VirtualClock())
    bug = context.options.get("bug", "none")
    if bug != "none":
        BUGS[bug](service, workload)
    return Subject(scheduling=service, workload=workload, scheduling_control=control)


plugin = Plugin(
    Manifest(
        name="scheduled",
        vendor="tests",
        version="1",
        interfaces=("scheduling", "workload", "scheduling_control"),
        virtual_clock=True,
        npu_profile="page",
        options={"bug": "which one"},
    ),
    _create,
)
