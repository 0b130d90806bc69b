"""The reference NPU Manager under the status-quo policy: every request is granted at once.

A request lives from its submission to its completion, and is known by the uid of its owner and its id (NPU-REQ-009).
Callbacks are posted to the clock, so that no call waits for them and their order is that of the events (NPU-LIF-001).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager.apps import Apps
from npu_conformance.reference.manager.control import Control
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, IllegalArgument, SecurityDenied, Unsupported
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import (
    PERMISSION,
    CompletionStatus,
    LoadStatus,
    ModelLoadRequest,
    Policy,
    PolicyParameters,
)
from npu_conformance.specs.plugin import Caller, Context


def create(context: Context) -> tuple[NpuManager, Control]:
    """Make a manager and what steers it; they share the context's clock where it is virtual, else a new one."""
    clock = context.clock if isinstance(context.clock, VirtualClock) else VirtualClock()
    apps = Apps()
    manager = NpuManager(clock, apps, context.caller)
    return manager, Control(clock, apps, manager.drop_client)


@dataclass(frozen=True)
class LiveRequest:
    """A request that has not ended."""

    uid: int
    request: ModelLoadRequest
    callback: ModelLoadRequestCallback


class NpuManager(Manager):
    """The service `npu`. Every call needs the permission (NPU-ACC-004, -005)."""

    def __init__(self, clock: VirtualClock, apps: Apps, caller: Callable[[], Caller]) -> None:
        self._clock, self._apps, self._caller = clock, apps, caller
        self._live: dict[tuple[int, int], LiveRequest] = {}
        self._deaths: Counter[int] = Counter()
        self._lock = threading.RLock()
        """Every app calls in a thread of its own."""

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        """Grant the request. IllegalArgument: the id is not a 32-bit one, or is live already (NPU-REQ-007, -012)."""
        uid = self.authorised_uid()
        if callback is None:
            raise IllegalArgument("a request needs a callback")
        if not -(2**31) <= request.id < 2**31:
            raise IllegalArgument(f"request id {request.id} is not a 32-bit integer")
        listener = StatusListener(self, uid)
        with self._lock:
            if (uid, request.id) in self._live:
                raise IllegalArgument(f"request {request.id} of uid {uid} is live already")
            vlog.log("manager", lambda: f"uid {uid} asks for model {request.id}: granted, {len(self._live)} live")
            self._live[uid, request.id] = LiveRequest(uid, request, callback)
            self._deliver(uid, lambda: callback.on_can_load_model(request, LoadStatus.CAN_LOAD_NOW, listener))

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        """End a request of the caller as CANCELLED, loaded or not; an unknown one is ignored."""
        self.end(self.authorised_uid(), request, CompletionStatus.CANCELLED)

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        """Replace the policy, which ends all requests (NPU-LIF-022, -023).

        IllegalArgument: no such policy, nothing changes. Unsupported: turn taking and budget.
        """
        self.authorised_uid()
        if policy not in tuple(Policy):
            raise IllegalArgument(f"unknown policy {policy}")
        if policy != Policy.STATUS_QUO:
            raise Unsupported(f"policy {Policy(policy).name} is not implemented")
        with self._lock:
            for live in tuple(self._live.values()):
                self.end(live.uid, live.request, CompletionStatus.CANCELLED)

    def drop_client(self, uid: int) -> None:
        """Forget the requests of a uid whose process died; nothing more is delivered to it (NPU-LIF-019)."""
        with self._lock:
            self._deaths[uid] += 1
            self._live = {key: live for key, live in self._live.items() if live.uid != uid}

    def authorised_uid(self) -> int:
        """Return the caller's uid; raises SecurityDenied where it lacks the permission."""
        uid = self._caller().uid
        if not self._apps.may(uid, PERMISSION):
            raise SecurityDenied(f"uid {uid} lacks {PERMISSION}")
        return uid

    def end(self, uid: int, request: ModelLoadRequest, status: CompletionStatus) -> None:
        """Complete the live request of this uid and id; none of that name is no error (NPU-LIF-014)."""
        with self._lock:
            live = self._live.pop((uid, request.id), None)
            if live is not None:
                vlog.log("manager", lambda: f"request {request.id} of uid {uid} ends: {status.name}")
                self._deliver(uid, lambda: live.callback.on_model_load_request_complete(live.request, status))

    def _deliver(self, uid: int, send: Callable[[], None]) -> None:
        deaths = self._deaths[uid]

        def deliver() -> None:
            if self._deaths[uid] != deaths:
                return
            try:
                send()
            except DeadObject:
                self.drop_client(uid)

        self._clock.post(deliver)


class StatusListener(ModelLoadStatusListener):
    """The token of one decision. Only the uid that got it may use it, for any of its requests (NPU-LIF-024)."""

    def __init__(self, manager: NpuManager, owner: int) -> None:
        self._manager, self._owner = manager, owner

    def notify_model_loaded(self, request: ModelLoadRequest) -> None:
        """Nothing depends on what is resident under the status-quo policy, which never asks for an unload."""
        self._manager.authorised_uid()

    def notify_model_unloaded(self, request: ModelLoadRequest) -> None:
        """Complete the request; of another uid, unknown or completed: no effect."""
        uid = self._manager.authorised_uid()
        if uid == self._owner:
            self._manager.end(uid, request, CompletionStatus.COMPLETE)
