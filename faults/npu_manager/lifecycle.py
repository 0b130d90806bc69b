"""Faults in the life cycle of a request: decisions, notifications, completions, deaths."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.npu_manager.boundary import Callback, FaultyManager, Key, Listener, manager_fault
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ManagerControl, ModelLoadRequestCallback
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest, ModelPriority
from npu_conformance.specs.plugin import Context


class _CompletesTwice(FaultyManager):
    def on_model_load_request_complete(self, *completion: Any) -> None:
        super().on_model_load_request_complete(*completion)
        super().on_model_load_request_complete(*completion)


class _NeverCompletesAnUnload(FaultyManager):
    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        if status != CompletionStatus.COMPLETE:
            super().on_model_load_request_complete(callback, request, status)


class _CompletesAsCancelled(FaultyManager):
    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, CompletionStatus.CANCELLED)


class _CancelsAsComplete(FaultyManager):
    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, CompletionStatus.COMPLETE)


class _CannotCancelALoadedModel(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._loaded: set[Key] = set()

    def notify_model_loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        self._loaded.add((self.uid, request.id))
        super().notify_model_loaded(listener, request)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) not in self._loaded:
            super().cancel_model_load(request)


class _ForgetsAnEarlyCancellation(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._decided: set[Key] = set()

    def on_can_load_model(self, callback: Callback, request: ModelLoadRequest, *rest: Any) -> None:
        self._decided.add((callback.uid, request.id))
        super().on_can_load_model(callback, request, *rest)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) in self._decided:
            super().cancel_model_load(request)


class DecidesTwice(FaultyManager):
    """Every decision comes twice: NPU-LIF-005 asks for one at least."""

    def on_can_load_model(self, *decision: Any) -> None:
        super().on_can_load_model(*decision)
        super().on_can_load_model(*decision)


class _NeverDecides(FaultyManager):
    def on_can_load_model(self, *decision: Any) -> None:
        pass


class _DecidesBeforeReturning(FaultyManager):
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        super().request_can_load_model(request, callback)
        self.inner_control.advance_clock(0)


class _ReturnsAnotherRequest(FaultyManager):
    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        normal = replace(request, priority=ModelPriority.NORMAL)
        super().on_model_load_request_complete(callback, normal, status)


class _NamesTheFirstRequestAlways(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._first: dict[int, ModelLoadRequest] = {}

    def on_can_load_model(self, callback: Callback, request: ModelLoadRequest, *rest: Any) -> None:
        first = self._first.setdefault(callback.uid, request)
        super().on_can_load_model(callback, first, *rest)


class _UnloadsOnASecondLoad(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._loaded: set[Key] = set()

    def notify_model_loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        if (self.uid, request.id) in self._loaded:
            self.inner.cancel_model_load(request)
        self._loaded.add((self.uid, request.id))


class _RefusesASecondUnload(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._unloaded: set[int] = set()

    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        if id(listener) in self._unloaded:
            raise IllegalArgument("not loaded")
        self._unloaded.add(id(listener))
        super().notify_model_unloaded(listener, request)


class _RefusesASecondCancellation(FaultyManager):
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


class _CompletesWhatHasEnded(FaultyManager):
    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        listener.callback.inner.on_model_load_request_complete(request, CompletionStatus.COMPLETE)


class _CancelsTheUnknown(FaultyManager):
    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        super().notify_model_unloaded(listener, ModelLoadRequest(1))


@forwarding(ManagerControl)
class _KillsOthers(Wrapper, ManagerControl):
    """The control interface with other victims. killed: their uids."""

    inner: ManagerControl

    def __init__(self, inner: ManagerControl, killed: tuple[int, ...]) -> None:
        super().__init__(inner)
        self._killed = killed

    def kill_client(self, uid: int, pid: int = 0) -> None:
        for victim in self._killed:
            self.inner.kill_client(victim, pid)


class _DoesNotNoticeDeath(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.control = _KillsOthers(self.inner_control, killed=())


class _DropsEveryoneOnADeath(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.control = _KillsOthers(self.inner_control, killed=tuple(range(10_000, 20_000)))


FAULTS = (
    manager_fault("completes-twice", "Sends every completion twice.", "NPU-LIF-010 NPU-LIF-013",
                  "lifecycle.unload_completes_once", _CompletesTwice),
    manager_fault("never-completes-an-unload", "Forgets an unloaded model without a word.", "NPU-LIF-010",
                  "lifecycle.unload_completes_once", _NeverCompletesAnUnload),
    manager_fault("completes-as-cancelled", "Says CANCELLED for an unloaded model.", "NPU-LIF-010",
                  "lifecycle.unload_completes_once", _CompletesAsCancelled),
    manager_fault("cancels-as-complete", "Says COMPLETE for a cancelled request.", "NPU-LIF-011",
                  "lifecycle.cancel_granted", _CancelsAsComplete),
    manager_fault("cannot-cancel-a-loaded-model", "Ignores the cancellation of a request that was reported as loaded.",
                  "NPU-LIF-012", "lifecycle.cancel_loaded", _CannotCancelALoadedModel),
    manager_fault("forgets-an-early-cancellation",
                  "Ignores the cancellation of a request whose decision was not delivered yet.", "NPU-LIF-011",
                  "lifecycle.cancel_at_once", _ForgetsAnEarlyCancellation),
    manager_fault("never-decides", "Leaves every request without an answer.", "NPU-LIF-005", "lifecycle.grant",
                  _NeverDecides),
    manager_fault("decides-before-returning", "Calls the client back from inside its own call.", "NPU-LIF-001",
                  "lifecycle.decision_after_return", _DecidesBeforeReturning),
    manager_fault("returns-another-request", "Loses the priority of the request on the way back.", "NPU-LIF-003",
                  "lifecycle.request_echoed", _ReturnsAnotherRequest),
    manager_fault("names-the-first-request-always",
                  "Ties the request to the callback object: later ones of the same object carry the first.",
                  "NPU-LIF-025 NPU-LIF-003", "lifecycle.one_callback_many_requests", _NamesTheFirstRequestAlways),
    manager_fault("unloads-on-a-second-load", "Takes a repeated loaded notification for the end of the request.",
                  "NPU-LIF-015", "lifecycle.loaded_twice", _UnloadsOnASecondLoad),
    manager_fault("refuses-a-second-unload",
                  "Raises an error for an unloaded notification of a request that has ended.", "NPU-LIF-014",
                  "lifecycle.unload_twice", _RefusesASecondUnload),
    manager_fault("refuses-a-second-cancellation",
                  "Raises an error for the cancellation of a request that was cancelled before.", "NPU-LIF-014",
                  "lifecycle.cancel_twice", _RefusesASecondCancellation),
    manager_fault("completes-what-has-ended",
                  "Sends COMPLETE for an unloaded notification whatever became of the request before.",
                  "NPU-LIF-013 NPU-LIF-014", "lifecycle.silence_after_completion", _CompletesWhatHasEnded),
    manager_fault("cancels-the-unknown",
                  "Takes a cancellation or a notification of an unknown request for one of the listener's own.",
                  "NPU-LIF-014", "lifecycle.unknown_ignored", _CancelsTheUnknown),
    manager_fault("does-not-notice-death", "Keeps the requests of a dead client.", "NPU-LIF-019",
                  "lifecycle.client_death", _DoesNotNoticeDeath),
    manager_fault("drops-everyone-on-a-death", "Forgets the requests of all apps when one dies.", "NPU-LIF-019",
                  "lifecycle.client_death", _DropsEveryoneOnADeath),
)  # fmt: skip
"""Faults in the life cycle."""
