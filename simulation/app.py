"""A simulated app: it asks, loads, uses and unloads its model, round after round, as its group's habits say."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.manager.control import Control
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.simulation.measures import NS_PER_MS, AppMeter
from npu_conformance.simulation.violation import Violation
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.scenario import AppGroup, Counts, Number, Span, Times
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    PERMISSION,
    CompletionStatus,
    EndReason,
    LoadStatus,
    ModelLoadRequest,
    ModelSize,
)
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.specs.plugin import Caller

_IDS = 2**31


class Device(Protocol):
    """The device as an app sees it. caller: who makes the present call."""

    caller: Caller
    clock: VirtualClock
    control: Control
    hal: SchedulingService
    manager: NpuManager
    meter: AppMeter

    @property
    def hal_away_ns(self) -> int:
        """How long the HAL stays away; 0 while it is there."""
        ...

    @property
    def manager_away_ns(self) -> int:
        """How long the manager stays away; 0 while it is there."""
        ...


class SimulatedApp(ModelLoadRequestCallback):
    """The app that the module describes. Actions planned for a request are void once that is over."""

    def __init__(self, device: Device, uid: int, group: AppGroup, rng: random.Random) -> None:
        self._device = device
        self.uid = uid
        self.group = group
        self._rng = rng
        self._clock = device.clock
        self._caller = Caller(uid, uid)
        self._run = InferenceRun(group.job_priority, device_number=group.device)
        self.size = ModelSize[group.size.upper()]
        lengths = [_mean(phase.lasts_ms) for phase in group.phases]
        self._phase = rng.choices(range(len(lengths)), lengths)[0] if group.shuffled else 0
        self._is_putting_off = False
        self._requests = 0
        self._plans = 0
        """The number of the valid plans; actions planned under an earlier number are void."""
        self._end_work: Callable[[EndReason], None] | None = None
        self._reset()
        self.importance = group.phases[self._phase].importance
        self.asked_ns = 0
        self.granted_ns = 0
        self.asked_importance = self.importance

    def _reset(self) -> None:
        self.request: ModelLoadRequest | None = None
        self._listener: ModelLoadStatusListener | None = None
        self.is_granted = False
        self._is_loaded = False
        self._is_asked = False
        self._is_leaving = False

    @property
    def is_waiting(self) -> bool:
        """True where it has a request without a grant."""
        return self.request is not None and not self.is_granted and not self._is_leaving

    def install(self) -> None:
        """Be installed on the device, and plan the first request."""
        self.enrol()
        self._enter_phase(self._rng.random() if self.group.shuffled else 1)
        self._plan(self.group.start_ms, self._ask)

    def enrol(self) -> None:
        """Become known to the manager."""
        control = self._device.control
        control.install_app(self.uid, f"{self.group.name}{self.uid}", declares_feature=True, target_sdk=BLOCKING_SDK)
        control.grant_permission(self.uid, PERMISSION, granted=True)
        control.set_importance(self.uid, self.importance)

    def _enter_phase(self, share: float = 1) -> None:
        """Enter the next phase. share: of its length."""
        phases = self.group.phases
        phase = phases[self._phase % len(phases)]
        self._phase += 1
        self.importance = phase.importance
        self._device.control.set_importance(self.uid, phase.importance)
        if len(phases) > 1:
            self._clock.post(self._enter_phase, int(share * self._time(phase.lasts_ms)))
        if self._is_putting_off:
            self._ask()

    def _ask(self) -> None:
        self._is_putting_off = self.importance > self.group.asks_up_to
        if not self._is_putting_off:
            self._request()

    def _request(self) -> None:
        if self._device.manager_away_ns:
            self._plan_ns(self._device.manager_away_ns, self._request)
            return
        self._requests = (self._requests + 1) % _IDS
        self.request = ModelLoadRequest(self._requests, self.size, self.group.model_priority)
        self.asked_ns = self._clock.now_ns()
        self.asked_importance = self.importance
        self._device.meter.asked(self)
        self._device.caller = self._caller
        try:
            self._device.manager.request_can_load_model(self.request, self)
        except InterfaceError as error:
            raise self._violation(f"its request was refused: {error}") from None
        if self.group.patience_ms is not None:
            self._plan(self.group.patience_ms, self._give_up)

    def _give_up(self) -> None:
        if self.request is not None and not self.is_granted:
            self._stop()
            self._device.caller = self._caller
            self._device.manager.cancel_model_load(self.request)

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        """Load if that is allowed, else wait."""
        self._expect_live(request, "a decision")
        if self.is_granted:
            raise self._violation(f"status {status} after its grant")
        if self._is_leaving:
            return
        self._listener = listener
        if status == LoadStatus.CAN_LOAD_NOW:
            self.is_granted = True
            self.granted_ns = self._clock.now_ns()
            self._device.meter.granted(self)
            self._plan(self.group.load_ms, self._load)
        elif status == LoadStatus.WAIT_FOR_UNLOAD:
            self._device.meter.queued(self)
        else:
            self._device.meter.parked(self)

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        """Answer by the group's habit."""
        self._expect_live(request, "an unload request")
        if not self._is_loaded or self._is_asked:
            raise self._violation("an unload request, but it is not loaded, or was asked before")
        self._is_asked = True
        self._device.meter.asked_to_unload(self)
        if self._is_leaving or self.group.on_unload == "never":
            return
        if self.group.on_unload == "dies":
            self.die()
        elif self.group.on_unload == "late":
            self._plan(self.group.late_ms, self._unload)
        else:
            self._unload()

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """Forget the request, and ask again later."""
        self._expect_live(request, "a completion")
        if status not in tuple(CompletionStatus):
            raise self._violation(f"completion status {status}")
        self._forget()
        self._plan(self.group.again_ms, self._ask)

    def expect_decision(self) -> None:
        """Raise Violation for a request without a decision; every request gets its first at once (NPU-LIF-001)."""
        if self.request is not None and self._listener is None and not self._is_leaving:
            raise self._violation(f"request {self.request.id} has had no decision")

    def _load(self) -> None:
        assert self.request is not None
        assert self._listener is not None
        self._is_loaded = True
        self._device.caller = self._caller
        self._listener.notify_model_loaded(self.request)
        self._bursts = self._number(self.group.bursts)
        self._begin_burst()

    def _begin_burst(self) -> None:
        self._bursts -= 1
        self._inferences = self._number(self.group.inferences)
        self._infer()

    def _infer(self) -> None:
        if self._device.hal_away_ns:
            self._plan_ns(self._device.hal_away_ns, self._infer)
            return
        self._inferences -= 1
        self._next_ns = self._clock.now_ns() + self._time(self.group.period_ms)
        length = self._time(self.group.inference_ms)
        self._end_work = self._device.hal.submit(self._caller, self._run, self._inferred, length)

    def _inferred(self, reason: EndReason) -> None:
        self._end_work = None
        if reason is EndReason.FAILED:
            self._inferences += 1
            self._infer()
        if reason is not EndReason.COMPLETED:
            return
        self._device.meter.inferred(self)
        if self._inferences:
            self._plan_ns(max(0, self._next_ns - self._clock.now_ns()), self._infer)
        elif self._bursts:
            self._plan(self.group.think_ms, self._begin_burst)
        else:
            self._plan(0, self._unload)

    def _unload(self) -> None:
        assert self.request is not None
        assert self._listener is not None
        self._stop()
        if self._is_asked:
            self._device.meter.answered(self)
        self._device.caller = self._caller
        self._listener.notify_model_unloaded(self.request)

    def _stop(self) -> None:
        """Stop all actions, and void those planned, for the present request."""
        self._plans += 1
        self._is_leaving = True
        if self._end_work is not None:
            self._end_work(EndReason.CANCELLED_USER)

    def _forget(self) -> None:
        self._stop()
        self._device.meter.ended(self)
        self._reset()

    def lose_manager(self) -> None:
        """Unload, since the manager has died, and ask the next one."""
        if self.request is not None:
            self._forget()
            self._plan(self.group.again_ms, self._ask)

    def die(self) -> None:
        """Die, and be back after the time that the group says."""
        self._device.hal.end_work(self.uid, EndReason.CANCELLED_SYSTEM)
        self._is_putting_off = False
        self._plans += 1
        if self.request is not None:
            self._forget()
        self._device.control.kill_client(self.uid)
        if self.group.restart_ms is not None:
            self._plan(self.group.restart_ms, self._ask)

    def _plan(self, span: Span, action: Callable[[], None]) -> None:
        self._plan_ns(self._time(span), action)

    def _plan_ns(self, delay_ns: int, action: Callable[[], None]) -> None:
        plans = self._plans

        def act() -> None:
            if plans == self._plans:
                action()

        self._clock.post(act, delay_ns)

    def _time(self, span: Span) -> int:
        return NS_PER_MS * (self._rng.randint(span.least, span.most) if isinstance(span, Times) else span)

    def _number(self, number: Number) -> int:
        return self._rng.randint(number.least, number.most) if isinstance(number, Counts) else number

    def _expect_live(self, request: ModelLoadRequest, what: str) -> None:
        if request != self.request:
            raise self._violation(f"{what} for request {request.id}, which is over or never was")

    def _violation(self, text: str) -> Violation:
        return Violation(self._clock.now_ns(), f"uid {self.uid} ({self.group.name}): {text}")


def _mean(span: Span) -> float:
    return (span.least + span.most) / 2 if isinstance(span, Times) else span
