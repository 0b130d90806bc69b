"""Faults in what a request is and whose it is."""

from __future__ import annotations

from npu_conformance.faults.npu_manager.boundary import Callback, Conforming, Key, Listener
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest, ModelPriority
from npu_conformance.specs.plugin import Context


class AnswersTheFirstApp(Conforming):
    """Delivers completions to whichever app asked first."""

    breaks = ("NPU-REQ-009",)
    caught_by = "cts.npu_manager.request.equal_ids_of_two_apps"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._first: Callback | None = None

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().complete(self._first or callback, request, status)

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        self._first = self._first or callback
        super().decide(callback, request, status, listener)


class _KnowsById(Conforming):
    """Finds the owner of a request by its id alone."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._owners: dict[int, tuple[int, ModelLoadStatusListener]] = {}

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        if isinstance(listener, Listener):
            self._owners.setdefault(request.id, (callback.uid, listener.manager_side))
        super().decide(callback, request, status, listener)

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        self._owners.pop(request.id, None)
        super().complete(callback, request, status)


class CancelsForAnotherApp(_KnowsById):
    """Cancels the request with this id, whoever owns it."""

    breaks = ("NPU-REQ-009",)
    caught_by = "cts.npu_manager.request.equal_ids_of_two_apps"

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        owner, _ = self._owners.get(request.id, (self.uid, None))
        with self.playing(owner):
            super().cancel_model_load(request)


class AcceptsForeignNotifications(_KnowsById):
    """Takes an unloaded notification from any app for the request with this id."""

    breaks = ("NPU-LIF-024",)
    caught_by = "cts.npu_manager.request.notification_of_another_app"

    def unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        owner, manager_side = self._owners.get(request.id, (self.uid, listener.manager_side))
        with self.playing(owner):
            manager_side.notify_model_unloaded(request)


class RefusesNegativeIds(Conforming):
    """Takes ids for unsigned numbers."""

    breaks = ("NPU-REQ-007",)
    caught_by = "cts.npu_manager.request.every_32_bit_id"

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if request.id < 0:
            raise IllegalArgument(f"id {request.id} is negative")
        super().request_can_load_model(request, callback)


class KnowsTwoPrioritiesOnly(Conforming):
    """Refuses priorities between normal and background."""

    breaks = ("NPU-REQ-003",)
    caught_by = "cts.npu_manager.request.sizes_and_priorities"

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if request.priority not in tuple(ModelPriority):
            raise IllegalArgument(f"priority {request.priority}")
        super().request_can_load_model(request, callback)


class CountsALiveIdTwice(Conforming):
    """Accepts a live id again and completes it once for each time."""

    breaks = ("NPU-REQ-012",)
    caught_by = "cts.npu_manager.request.live_id_again"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._again: set[Key] = set()

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        try:
            super().request_can_load_model(request, callback)
        except IllegalArgument:
            self._again.add((self.uid, request.id))

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().complete(callback, request, status)
        if (callback.uid, request.id) in self._again:
            super().complete(callback, request, status)


class NeverFreesAnId(Conforming):
    """Refuses an id that a completed request had; a fresh one passes."""

    breaks = ("NPU-REQ-011",)
    caught_by = "cts.npu_manager.request.live_id_again"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._completed: set[Key] = set()

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        if status == CompletionStatus.COMPLETE:
            self._completed.add((callback.uid, request.id))
        super().complete(callback, request, status)

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if (self.uid, request.id) in self._completed:
            raise IllegalArgument(f"id {request.id} was used before")
        super().request_can_load_model(request, callback)
