"""Forms that a conforming npu scheduling HAL may have: another clock, fewer choices, a tool instead of an interface."""

from __future__ import annotations

import dataclasses
import socketserver
import sys
import threading
import time
from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.faults.npu_scheduling import tool
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal import scheduling_workload
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.device_work import DeviceWork
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.hal.scheduling_receiver import Courier
from npu_conformance.reference.hal.scheduling_workload import TestInferences
from npu_conformance.reference.manager import service
from npu_conformance.specs.errors import InterfaceError, Unsupported
from npu_conformance.specs.manifest import InferenceTool
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import MAX_PRIORITY, MIN_PRIORITY, SchedulingConfig, WorkInfo
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun, Workload, WorkloadCallback
from npu_conformance.specs.plugin import Caller, Context, Subject

_SHORT, _LONG = 5, 15
"""How many inferences a run in real time has: a fifth of a second; with a process for it, over half a second."""

_LOOK_S = 0.001
_SOMEBODY, _NOW_AND_THEN_S = Caller(10_777, 77), 0.2

Shape = Callable[[Context], Subject]


def reference(context: Context) -> Subject:
    """The reference HAL on a clock of its own."""
    scheduling, workload, control = scheduling_workload.create(context, VirtualClock())
    return Subject(scheduling=scheduling, workload=workload, scheduling_control=control)


def whole(context: Context) -> Subject:
    """The reference HAL and the reference manager on one clock."""
    clock = VirtualClock()
    scheduling, workload, control = scheduling_workload.create(context, clock)
    manager, manager_control = service.create(
        dataclasses.replace(context, clock=clock), scheduling, scheduling.settle, declared_only=True
    )
    return Subject(
        scheduling=scheduling,
        workload=workload,
        scheduling_control=control,
        manager=manager,
        manager_control=manager_control,
    )


class _AsInAosp(Wrapper, Scheduling):
    """AOSP's interface: no debounce time with the callback, no bounds in configs."""

    inner: SchedulingService

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self.inner.set_scheduling_configs(_without_bounds(configs))

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self.inner.update_scheduling_configs(_without_bounds(configs))

    def set_callback(self, callback: SchedulingCallback | None, *debounce: int) -> None:
        self.inner.set_callback(callback)


def _without_bounds(configs: tuple[SchedulingConfig, ...]) -> tuple[SchedulingConfig, ...]:
    return tuple(replace(one, min_priority=MIN_PRIORITY, max_priority=MAX_PRIORITY) for one in configs)


def aosp(context: Context) -> Subject:
    """The reference HAL with AOSP's interface."""
    found = reference(context)
    assert isinstance(found.scheduling, SchedulingService)
    return dataclasses.replace(found, scheduling=_AsInAosp(found.scheduling))


def without_workload(context: Context) -> Subject:
    """AOSP's interface, and no workload."""
    return Subject(scheduling=aosp(context).scheduling)


@forwarding(SchedulingCallback)
class _NoOriginal(Wrapper, SchedulingCallback):
    """Reports work of an app for itself as Cuttlefish does."""

    def call(self, name: str, work: WorkInfo, *reason: int) -> None:
        super().call(name, _without_original(work), *reason)


def _without_original(work: WorkInfo) -> WorkInfo:
    return replace(work, original_uid=OWN_WORK) if work.original_uid == work.uid else work


class _Cuttlefish(_AsInAosp):
    def set_callback(self, callback: SchedulingCallback | None, *debounce: int) -> None:
        super().set_callback(None if callback is None else _NoOriginal(callback))


def cuttlefish(context: Context) -> Subject:
    """AOSP's interface with the quirk of its own implementation."""
    found = reference(context)
    assert isinstance(found.scheduling, SchedulingService)
    return dataclasses.replace(found, scheduling=_Cuttlefish(found.scheduling))


class _ToolLike(Wrapper, Workload):
    """Has only the options of AOSP's tool, and rejects by failing, as an exit code does."""

    inner: Workload

    def run_test_inference(self, run: InferenceRun, callback: WorkloadCallback) -> None:
        if (run.device_number, run.group_id, run.feature_id) != (None, None, None):
            raise Unsupported("only job priority and original uid")
        try:
            self.inner.run_test_inference(run, callback)
        except Unsupported:
            raise
        except InterfaceError:
            callback.on_run_ended(False)


def narrow(context: Context) -> Subject:
    """AOSP's interface, a workload with the options of the tool, and a clock: nothing can be cancelled or broken."""
    found = aosp(context)
    assert found.workload is not None
    return dataclasses.replace(found, workload=_ToolLike(found.workload))


class _Metronome:
    """Moves a virtual clock as real time passes, by whole ticks."""

    def __init__(self, clock: VirtualClock, tick_ms: int) -> None:
        self._clock = clock
        self._tick_ns = tick_ms * 1_000_000
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        start = time.monotonic_ns()
        while True:
            time.sleep(_LOOK_S)
            ticks = (time.monotonic_ns() - start) // self._tick_ns
            self._clock.advance(max(0, ticks * self._tick_ns - self._clock.now_ns()))


class _Told(WorkloadCallback):
    """Waits for the end of a run."""

    def __init__(self) -> None:
        self.succeeded = False
        self.over = threading.Event()

    def on_run_ended(self, succeeded: bool) -> None:
        self.succeeded = succeeded
        self.over.set()


def _real_service(tick_ms: int = 1) -> SchedulingService:
    clock = VirtualClock()
    service = SchedulingService(clock, receiver=Courier)
    _Metronome(clock, tick_ms)
    return service


def in_real_time(context: Context) -> Subject:
    """A HAL on which time passes by itself, as on a device."""
    service = _real_service()
    return Subject(scheduling=_AsInAosp(service), workload=TestInferences(service, context.caller, _SHORT))


def on_a_coarse_clock(context: Context) -> Subject:
    """The same with timers and timestamps of whole ticks of 10 ms."""
    service = _real_service(tick_ms=10)
    return Subject(scheduling=_AsInAosp(service), workload=TestInferences(service, context.caller, _SHORT))


def page_in_real_time(context: Context) -> Subject:
    """The same with the public page's interface: the debounce time comes with the callback."""
    service = _real_service()
    return Subject(scheduling=service, workload=TestInferences(service, context.caller, _SHORT))


def with_device(context: Context) -> Subject:
    """A device whose executions are work of its scheduling HAL."""
    service = _real_service()
    return Subject(device=ReferenceDevice(context, apps=DeviceWork(service)), scheduling=service)


def device_alone(context: Context) -> Subject:
    """AOSP's interface, and a device whose executions are the only work."""
    found = with_device(context)
    assert isinstance(found.scheduling, SchedulingService)
    return dataclasses.replace(found, scheduling=_AsInAosp(found.scheduling))


def by_hand(context: Context) -> Subject:
    """AOSP's interface, and somebody who uses the NPU now and then, whatever the harness does."""
    service = _real_service()

    def use() -> None:
        while True:
            service.submit(_SOMEBODY, InferenceRun())
            time.sleep(_NOW_AND_THEN_S)

    threading.Thread(target=use, daemon=True).start()
    return Subject(scheduling=_AsInAosp(service))


def with_device_of_its_own(context: Context) -> Subject:
    """The same with a device that does not use the HAL."""
    return Subject(device=ReferenceDevice(context), scheduling=_real_service())


def through_a_tool(context: Context) -> Subject:
    """A device whose work comes from a command, which reaches it through a socket, as Cuttlefish's tool does."""
    service = _real_service()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            uid, job_priority, original_uid = map(int, self.rfile.readline().split())
            told = _Told()
            workload = _ToolLike(TestInferences(service, lambda: Caller(uid, 0), _LONG))
            workload.run_test_inference(InferenceRun(job_priority, original_uid), told)
            told.over.wait()
            self.wfile.write(b"done" if told.succeeded else b"failed")

    server = socketserver.ThreadingUnixStreamServer(tool.address(), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Subject(scheduling=_AsInAosp(service))


def tool_of_this_process() -> InferenceTool:
    """The command for `through_a_tool`, for a harness in the same process."""
    return InferenceTool((sys.executable, "-P", tool.__file__, tool.address().removeprefix("\0"), "{uid}"))
