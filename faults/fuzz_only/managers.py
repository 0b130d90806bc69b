"""NPU Managers that go wrong behind rare histories of apps."""

from __future__ import annotations

from collections import Counter
from typing import Any

from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.faults.npu_manager.boundary import Callback, FaultyManager, Listener, faulty_manager
from npu_conformance.reference.manager.requests import State
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest
from npu_conformance.specs.plugin import Context


class _Counting(FaultyManager):
    """Knows how often requests of an app were completed, by status. live: requests with their states."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.ended: Counter[tuple[int, int]] = Counter()

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        """Count it."""
        self.ended[callback.uid, status] += 1
        super().on_model_load_request_complete(callback, request, status)

    def live(self) -> list[Any]:
        """The requests that live."""
        return list(self.inner.table.live())  # type: ignore[attr-defined]


class _SecondCancel(_Counting):
    """The second cancellation of an app is told twice where another request of its own is parked."""

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, status)
        parked = [one for one in self.live() if one.state is State.PARKED and one.uid.number == callback.uid]
        if status == CompletionStatus.CANCELLED and self.ended[callback.uid, status] == 2 and parked:
            super().on_model_load_request_complete(callback, request, status)


class _SignOfId(_Counting):
    """Cancelling a negative id ends the positive one of the same app, too."""

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        super().cancel_model_load(request)
        for one in self.live():
            if request.id < 0 and one.model.id > 0 and one.uid.number == self.uid:
                self.inner.cancel_model_load(one.model)


class _UnloadedOutOfOrder(_Counting):
    """Of two loaded models of one app the older is unloaded first: the other's room is lost."""

    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        loaded = [one for one in self.live() if one.uid.number == self.uid and one.state is State.LOADED]
        super().notify_model_unloaded(listener, request)
        if len(loaded) == 3 and loaded[0].model.id == request.id:
            self.inner.cancel_model_load(loaded[1].model)


class _WaitsForThree(_Counting):
    """A request while three others are parked is not answered."""

    def on_can_load_model(self, callback: Callback, request: ModelLoadRequest, status: int, listener: Any) -> None:
        parked = [one for one in self.live() if one.state is State.PARKED and one.model.id != request.id]
        if len(parked) >= 3 and status == 2:
            return
        super().on_can_load_model(callback, request, status, listener)


class _LoadedAgain(_Counting):
    """A model that says for the third time that it is loaded crashes the service."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._told: Counter[tuple[int, int]] = Counter()

    def notify_model_loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        self._told[self.uid, request.id] += 1
        if self._told[self.uid, request.id] == 3:
            raise MemoryError("assertion failed")
        super().notify_model_loaded(listener, request)


class _LastId(_Counting):
    """The largest id of 32 bits counts as none: its cancellation has no effect."""

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if request.id != 2**31 - 1:
            super().cancel_model_load(request)


FAULTS: tuple[FuzzFault, ...] = rows(
    "manager",
    ("second-cancel", "The second cancellation of an app is told twice while another of its requests is parked.",
     "NPU-REQ-009", faulty_manager(_SecondCancel)),
    ("sign-of-id", "Cancelling a negative id ends the app's positive ones, too.",
     "NPU-REQ-009", faulty_manager(_SignOfId)),
    ("oldest-of-three", "Unloading the oldest of three models of an app ends the second.",
     "NPU-REQ-009", faulty_manager(_UnloadedOutOfOrder)),
    ("three-parked", "A request that is to be parked behind three others is not answered.",
     "NPU-POL-022", faulty_manager(_WaitsForThree)),
    ("loaded-thrice", "A model that tells for the third time that it is loaded crashes the service.",
     "NPU-REQ-012", faulty_manager(_LoadedAgain)),
    ("last-id", "A request of the largest id is not cancelled.", "NPU-REQ-007", faulty_manager(_LastId)),
)  # fmt: skip
