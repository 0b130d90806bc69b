"""Faults in what a request is and whose it is."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.npu_manager.boundary import Callback, FaultyManager, Key, Listener, manager_fault
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest, ModelPriority
from npu_conformance.specs.plugin import Context


class _AnswersTheFirstApp(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._first: Callback | None = None

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(self._first or callback, request, status)

    def on_can_load_model(self, callback: Callback, *decision: Any) -> None:
        self._first = self._first or callback
        super().on_can_load_model(callback, *decision)


class _KnowsById(FaultyManager):
    """Finds the owner of a request by its id alone."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._owners: dict[int, tuple[int, ModelLoadStatusListener]] = {}

    def on_can_load_model(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        if isinstance(listener, Listener):
            self._owners.setdefault(request.id, (callback.uid, listener.inner))
        super().on_can_load_model(callback, request, status, listener)

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        self._owners.pop(request.id, None)
        super().on_model_load_request_complete(callback, request, status)


class _CancelsForAnotherApp(_KnowsById):
    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        owner, _ = self._owners.get(request.id, (self.uid, None))
        with self.playing(owner):
            super().cancel_model_load(request)


class _AcceptsForeignNotifications(_KnowsById):
    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        owner, listener_of_owner = self._owners.get(request.id, (self.uid, listener.inner))
        with self.playing(owner):
            listener_of_owner.notify_model_unloaded(request)


class _RefusesNegativeIds(FaultyManager):
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if request.id < 0:
            raise IllegalArgument(f"id {request.id} is negative")
        super().request_can_load_model(request, callback)


class _KnowsTwoPrioritiesOnly(FaultyManager):
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if request.priority not in tuple(ModelPriority):
            raise IllegalArgument(f"priority {request.priority}")
        super().request_can_load_model(request, callback)


class _CountsALiveIdTwice(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._again: set[Key] = set()

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        try:
            super().request_can_load_model(request, callback)
        except IllegalArgument:
            self._again.add((self.uid, request.id))

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, status)
        if (callback.uid, request.id) in self._again:
            super().on_model_load_request_complete(callback, request, status)


class _NeverFreesAnId(FaultyManager):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._completed: set[Key] = set()

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        if status == CompletionStatus.COMPLETE:
            self._completed.add((callback.uid, request.id))
        super().on_model_load_request_complete(callback, request, status)

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if (self.uid, request.id) in self._completed:
            raise IllegalArgument(f"id {request.id} was used before")
        super().request_can_load_model(request, callback)


FAULTS = (
    manager_fault("answers-the-first-app", "Delivers completions to whichever app asked first.", "NPU-REQ-009",
                  "request.equal_ids_of_two_apps", _AnswersTheFirstApp),
    manager_fault("cancels-for-another-app", "Cancels the request with this id, whoever owns it.", "NPU-REQ-009",
                  "request.equal_ids_of_two_apps", _CancelsForAnotherApp),
    manager_fault("accepts-foreign-notifications",
                  "Takes an unloaded notification from any app for the request with this id.", "NPU-LIF-024",
                  "request.notification_of_another_app", _AcceptsForeignNotifications),
    manager_fault("refuses-negative-ids", "Takes ids for unsigned numbers.", "NPU-REQ-007", "request.every_32_bit_id",
                  _RefusesNegativeIds),
    manager_fault("knows-two-priorities-only", "Refuses priorities between normal and background.", "NPU-REQ-003",
                  "request.sizes_and_priorities", _KnowsTwoPrioritiesOnly),
    manager_fault("counts-a-live-id-twice", "Accepts a live id again and completes it once for each time.",
                  "NPU-REQ-012", "request.live_id_again", _CountsALiveIdTwice),
    manager_fault("never-frees-an-id", "Refuses an id that a completed request had; a fresh one passes.", "NPU-REQ-011",
                  "request.live_id_again", _NeverFreesAnId),
)  # fmt: skip
"""Faults in requests."""
