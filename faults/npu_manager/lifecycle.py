"""Faults in the life cycle of a request: decisions, notifications, completions, deaths."""

from __future__ import annotations

import msgspec

from npu_conformance.faults.boundary import forwarding
from npu_conformance.faults.npu_manager.boundary import Callback, Conforming, Key, Listener
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ManagerControl, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest, ModelPriority
from npu_conformance.specs.plugin import Context


class CompletesTwice(Conforming):
    """Sends every completion twice."""

    breaks = ("NPU-LIF-010", "NPU-LIF-013")
    caught_by = "cts.npu_manager.lifecycle.unload_completes_once"

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        callback.client.on_model_load_request_complete(request, status)
        callback.client.on_model_load_request_complete(request, status)


class NeverCompletesAnUnload(Conforming):
    """Forgets an unloaded model without a word."""

    breaks = ("NPU-LIF-010",)
    caught_by = "cts.npu_manager.lifecycle.unload_completes_once"

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        if status != CompletionStatus.COMPLETE:
            super().complete(callback, request, status)


class CompletesAsCancelled(Conforming):
    """Says CANCELLED for an unloaded model."""

    breaks = ("NPU-LIF-010",)
    caught_by = "cts.npu_manager.lifecycle.unload_completes_once"

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().complete(callback, request, CompletionStatus.CANCELLED)


class CancelsAsComplete(Conforming):
    """Says COMPLETE for a cancelled request."""

    breaks = ("NPU-LIF-011",)
    caught_by = "cts.npu_manager.lifecycle.cancel_granted"

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().complete(callback, request, CompletionStatus.COMPLETE)


class CannotCancelALoadedModel(Conforming):
    """Ignores the cancellation of a request that was reported as loaded."""

    breaks = ("NPU-LIF-012",)
    caught_by = "cts.npu_manager.lifecycle.cancel_loaded"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._loaded: set[Key] = set()

    def loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        self._loaded.add((self.uid, request.id))
        super().loaded(listener, request)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) not in self._loaded:
            super().cancel_model_load(request)


class ForgetsAnEarlyCancellation(Conforming):
    """Ignores the cancellation of a request whose decision was not delivered yet."""

    breaks = ("NPU-LIF-011",)
    caught_by = "cts.npu_manager.lifecycle.cancel_at_once"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._decided: set[Key] = set()

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        self._decided.add((callback.uid, request.id))
        super().decide(callback, request, status, listener)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) in self._decided:
            super().cancel_model_load(request)


class DecidesTwice(Conforming):
    """Sends every decision twice."""

    breaks = ("NPU-LIF-005",)
    caught_by = "cts.npu_manager.lifecycle.grant"

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        super().decide(callback, request, status, listener)
        super().decide(callback, request, status, listener)


class NeverDecides(Conforming):
    """Leaves every request without an answer."""

    breaks = ("NPU-LIF-005",)
    caught_by = "cts.npu_manager.lifecycle.grant"

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        return


class DecidesBeforeReturning(Conforming):
    """Calls the client back from inside its own call."""

    breaks = ("NPU-LIF-001",)
    caught_by = "cts.npu_manager.lifecycle.decision_after_return"

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        super().request_can_load_model(request, callback)
        self.inner_control.advance_clock(0)


class ReturnsAnotherRequest(Conforming):
    """Loses the priority of the request on the way back."""

    breaks = ("NPU-LIF-003",)
    caught_by = "cts.npu_manager.lifecycle.request_echoed"

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().complete(callback, msgspec.structs.replace(request, priority=ModelPriority.NORMAL), status)


class NamesTheFirstRequestAlways(Conforming):
    """Ties the request to the callback object: later ones of the same object carry the first."""

    breaks = ("NPU-LIF-025", "NPU-LIF-003")
    caught_by = "cts.npu_manager.lifecycle.one_callback_many_requests"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._first: dict[int, ModelLoadRequest] = {}

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        first = self._first.setdefault(callback.uid, request)
        super().decide(callback, first, status, listener)


class UnloadsOnASecondLoad(Conforming):
    """Takes a repeated loaded notification for the end of the request."""

    breaks = ("NPU-LIF-015",)
    caught_by = "cts.npu_manager.lifecycle.loaded_twice"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._loaded: set[Key] = set()

    def loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) in self._loaded:
            self.manager.cancel_model_load(request)
        self._loaded.add((self.uid, request.id))


class RefusesASecondUnload(Conforming):
    """Raises an error for an unloaded notification of a request that has ended."""

    breaks = ("NPU-LIF-014",)
    caught_by = "cts.npu_manager.lifecycle.unload_twice"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._unloaded: set[int] = set()

    def unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        if id(listener) in self._unloaded:
            raise IllegalArgument("not loaded")
        self._unloaded.add(id(listener))
        super().unloaded(listener, request)


class RefusesASecondCancellation(Conforming):
    """Raises an error for the cancellation of a request that was cancelled before."""

    breaks = ("NPU-LIF-014",)
    caught_by = "cts.npu_manager.lifecycle.cancel_twice"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._last: ModelLoadRequest | None = None

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        self._last = None
        super().request_can_load_model(request, callback)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if request == self._last:
            raise IllegalArgument("cancelled already")
        self._last = request
        super().cancel_model_load(request)


class CompletesWhatHasEnded(Conforming):
    """Sends COMPLETE for an unloaded notification whatever became of the request before."""

    breaks = ("NPU-LIF-013", "NPU-LIF-014")
    caught_by = "cts.npu_manager.lifecycle.silence_after_completion"

    def unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        listener.callback.client.on_model_load_request_complete(request, CompletionStatus.COMPLETE)


class CancelsTheUnknown(Conforming):
    """Takes a cancellation or a notification of an unknown request for one of the listener's own."""

    breaks = ("NPU-LIF-014",)
    caught_by = "cts.npu_manager.lifecycle.unknown_ignored"

    def unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        super().unloaded(listener, ModelLoadRequest(1))


@forwarding(ManagerControl)
class _Deaf(ManagerControl):
    """The control interface with a bent way to die."""

    def __init__(self, inner: ManagerControl, killed: tuple[int, ...]) -> None:
        self.inner, self._killed = inner, killed

    def kill_client(self, uid: int, pid: int = 0) -> None:
        for victim in self._killed:
            self.inner.kill_client(victim, pid)


class DoesNotNoticeDeath(Conforming):
    """Keeps the requests of a dead client."""

    breaks = ("NPU-LIF-019",)
    caught_by = "cts.npu_manager.lifecycle.client_death"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.control = _Deaf(self.inner_control, killed=())


class DropsEveryoneOnADeath(Conforming):
    """Forgets the requests of all apps when one dies."""

    breaks = ("NPU-LIF-019",)
    caught_by = "cts.npu_manager.lifecycle.client_death"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.control = _Deaf(self.inner_control, killed=tuple(range(10_000, 20_000)))
