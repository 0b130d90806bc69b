"""The reference NPU Manager: takes calls, keeps the table of requests, and carries out what the policy decides.

Under the lock, decisions are made one after the other. Their messages to clients are posted: no call waits for them
(NPU-LIF-001), no lock is held while a client handles one, and each client gets its own in the order of the decisions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from npu_conformance.reference.manager import dump, policies, shell, snapshot
from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.reference.manager.decisions import Decision, Kind, Record, Watcher
from npu_conformance.reference.manager.delivery import Delivery
from npu_conformance.reference.manager.hal_link import HalLink
from npu_conformance.reference.manager.metrics import Metrics
from npu_conformance.reference.manager.priorities import Priorities
from npu_conformance.reference.manager.requests import MOST_REQUESTS, Client, Request, State, Table
from npu_conformance.reference.npu_buffers.allocator import Allocators
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, IllegalArgument, IllegalState, SecurityDenied
from npu_conformance.specs.npu.buffers import Allocator, AllocatorCallback
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.scheduling import SchedulingCallback
from npu_conformance.specs.npu.types import (
    DUMP_PERMISSION,
    PERMISSION,
    UNLOAD_TIMEOUT_NS,
    CompletionStatus,
    EndReason,
    Flag,
    LoadStatus,
    ManagerSnapshot,
    MemoryPressure,
    ModelLoadRequest,
    ModelPriority,
    Policy,
    PolicyParameters,
    ShellResult,
    ThermalStatus,
    UnloadReason,
    WorkInfo,
)
from npu_conformance.specs.plugin import Caller

_STATUSES = {
    Kind.GRANT: LoadStatus.CAN_LOAD_NOW,
    Kind.WAIT: LoadStatus.WAIT_FOR_UNLOAD,
    Kind.PARK: LoadStatus.NOT_PRIORITIZED,
}
_HAL = "hal"
"""The lane of pushes that an app's call or a work event causes."""


class NpuManager(Manager):
    """The service `npu`. Every call needs the permission (NPU-ACC-004, -005).

    watch: called with every decision at once, while the lock is held; or None. flags: see Flag. opportunistic:
    the number of NPU_MODEL_PRIORITY_OPPORTUNISTIC.
    """

    def __init__(
        self,
        delivery: Delivery,
        apps: InstalledApps,
        caller: Callable[[], Caller],
        allocators: Allocators,
        *,
        declared_only: bool = False,
        opportunistic: int = ModelPriority.OPPORTUNISTIC,
    ) -> None:
        self.apps = apps
        self.delivery = delivery
        self._caller = caller
        self.allocators = allocators
        self.flags = dict.fromkeys(Flag, True)
        self.unload_timeout_ns = UNLOAD_TIMEOUT_NS
        self.metrics = Metrics(opportunistic)
        self.works = snapshot.WorkLog()
        self.priorities = Priorities(
            apps, lambda: self.flags[Flag.BLOCK_MISSING_FEATURE], self.metrics.blocked, declared_only=declared_only
        )
        self.hal = HalLink(self.priorities.configs, WorkEvents(self))
        self.watch: Watcher | None = None
        self.table = Table(self.priorities.priority, opportunistic)
        self.policy = policies.make(Policy.STATUS_QUO, None, self._decide)
        self._lock = threading.RLock()
        """Held by each call: every app calls in a thread of its own."""

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        """Decide on a request. Errors: see the interface; nothing is kept of a rejected request (NPU-REQ-011)."""
        # Over the rights, too: an app may be removed meanwhile, and leaves no request.
        with self._lock:
            caller = self._authorised()
            if callback is None:
                raise IllegalArgument("a request needs a callback")
            if not -(2**31) <= request.id < 2**31:
                raise IllegalArgument(f"request id {request.id} is not a 32-bit integer")
            self.policy.check(request.size)
            self._check_room(caller.uid, request)
            if self.priorities.track(caller.uid):
                self._push_later(caller.uid)
            entered = self.table.add(self.table.client(caller), request, callback)
            self.metrics.requested(caller.uid, request)
            self.policy.requested(entered)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        """End a request of the caller's uid as CANCELLED, loaded or not; an unknown id has no effect."""
        self._end(self._authorised().uid, request.id, Kind.CANCEL, "the client cancelled it")

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        """Replace the policy, which ends all requests (NPU-LIF-022, -023).

        Loaded models are asked to unload first, since the new policy knows nothing of them.
        """
        self._authorised()
        with self._lock:
            chosen = policies.make(policy, parameters, self._decide)
            for request in self.table.live():
                if request.state is State.LOADED:
                    self._decide(Decision(Kind.UNLOAD, request, "new policy", UnloadReason.POLICY_CHANGE))
                self._decide(Decision(Kind.CANCEL, request, "new policy"))
                request.state = State.ENDED
            self.policy = chosen
            self.policy.set_pressure(self.priorities.pressure)

    def create_allocator(self, callback: AllocatorCallback) -> Allocator:
        """Return an allocator of buffers for the calling process."""
        return self.allocators.create(self._caller(), callback)

    def dump(self) -> str:
        """See dump.text. Raises SecurityDenied where the caller lacks the dump permission."""
        caller = self._caller()
        if not self.apps.may(caller.uid, DUMP_PERMISSION):
            raise SecurityDenied(f"can't dump NpuManagerService from uid {caller.uid}: it lacks {DUMP_PERMISSION}")
        with self._lock:
            return dump.text(self.policy, self.table.live(), self.priorities.configs(), self.apps)

    def snapshot(self) -> ManagerSnapshot:
        """See snapshot.take."""
        with self._lock:
            return snapshot.take(self.policy, self.table.live(), self.priorities.configs(), self.apps, self.works)

    def shell_command(self, arguments: tuple[str, ...]) -> ShellResult:
        """See shell.execute."""
        return shell.execute(arguments, self, self.hal, self._caller().uid)

    def model_loaded(self, identifier: int, owner: int) -> None:
        """Receive from the client of a listener that its model is in memory; from another: no effect (NPU-LIF-024)."""
        uid = self._authorised().uid
        with self._lock:
            request = self.table.find(uid, identifier)
            if request is not None and uid == owner:
                self.policy.loaded(request)

    def model_unloaded(self, identifier: int, owner: int) -> None:
        """Receive from the client of a listener that its model has left memory."""
        uid = self._authorised().uid
        if uid == owner:
            self._end(uid, identifier, Kind.COMPLETE, "the client unloaded it")

    def client_died(self, uid: int, pid: int = 0) -> None:
        """Drop the requests of a uid's processes, or of the one with this pid, which have died (NPU-LIF-019, -020)."""
        self.allocators.drop_client(uid, pid)
        with self._lock:
            self._remove_clients(self.table.clients_of(uid, pid))

    def connection_closed(self, caller: Caller) -> None:
        """Drop the requests of one connection, which has closed."""
        with self._lock:
            if (client := self.table.known_client(caller)) is not None:
                self._remove_clients([client])

    def remove_app(self, uid: int) -> None:
        """Remove an app, whose processes die with it; an unknown uid has no effect."""
        with self._lock:
            self.apps.remove(uid)
            self.client_died(uid)
            self.table.forget_uid(uid)
            self.works.forget(uid)
            tracked = self.priorities.forget(uid)
        if tracked:
            self.hal.push_all()

    def importance_changed(self, uid: int, importance: int) -> None:
        """Take over a new importance: first the HAL learns of it, then the policy acts on it (NPU-PRI-005)."""
        with self._lock:
            self.priorities.set_importance(uid, importance)
        self.refresh(uid)
        self.rank(uid)

    def refresh(self, uid: int) -> None:
        """Derive the config of a uid anew, and push it where it has changed."""
        with self._lock:
            changed = self.priorities.follow_app(uid)
        if changed:
            self.hal.push(lambda: self.priorities.configs((uid,)))

    def refresh_all(self) -> None:
        """Derive the config of every app anew, and push those that have changed."""
        with self._lock:
            changed = [app.uid for app in self.apps if self.priorities.follow_app(app.uid)]
        self.hal.push(lambda: self.priorities.configs(changed))

    def set_pressure(self, thermal: ThermalStatus | None = None, memory: MemoryPressure | None = None) -> None:
        """Take over a new pressure: the device is hotter or cooler, or has another amount of memory left."""
        with self._lock:
            pressure = self.priorities.pressure.changed(thermal, memory)
            self.priorities.pressure = pressure
            changed = self.priorities.refresh_all()
        self.hal.push(lambda: self.priorities.configs(changed))
        with self._lock:
            self.policy.set_pressure(self.priorities.pressure)  # which another thread may have changed meanwhile

    def work_seen(self, uid: int) -> None:
        """Receive that a uid has work: it gets a config where it had none (NPU-PRI-008)."""
        with self._lock:
            if self.priorities.track(uid):
                self._push_later(uid)

    def work_completed(self, number: int) -> None:
        """Receive that a uid has completed work: it is the weakest of its equals now, and its turn is over."""
        with self._lock:
            uid = self.table.uid(number)
            self.policy.rank_changes(uid)
            self.table.mark_last_used(uid)
            self.policy.turn_ended(uid)

    def _authorised(self) -> Caller:
        caller = self._caller()
        if not self.apps.may(caller.uid, PERMISSION):
            raise SecurityDenied(f"uid {caller.uid} lacks {PERMISSION}")
        return caller

    def _check_room(self, uid: int, request: ModelLoadRequest) -> None:
        live = self.table.uid(uid).requests
        if request.id in live:
            raise IllegalArgument(f"request {request.id} of uid {uid} is live already")
        if len(live) >= MOST_REQUESTS:
            raise IllegalState(f"uid {uid} has {MOST_REQUESTS} live requests, which is the most")

    def rank(self, number: int) -> None:
        """Let the policy act on the priority that a uid has now."""
        with self._lock:
            uid = self.table.known_uid(number)
            priority = self.priorities.priority(number)
            if uid is not None and uid.priority != priority:
                self.policy.rank_changes(uid)
                uid.priority = priority
                self.policy.rank_changed(uid, UnloadReason.PRIORITY_CHANGE)

    def _push_later(self, uid: int) -> None:
        self.delivery.post(_HAL, lambda: self.hal.push(lambda: self.priorities.configs((uid,))))

    def _end(self, uid: int, identifier: int, kind: Kind, because: str) -> None:
        with self._lock:
            request = self.table.find(uid, identifier)
            if request is not None:
                self._decide(Decision(kind, request, because))
                self.policy.released((request,))

    def _remove_clients(self, clients: list[Client]) -> None:
        gone = [request for client in clients for request in self.table.remove_client(client)]
        for request in gone:
            self._decide(Decision(Kind.DROP, request, "its client died"))
        if gone:
            self.policy.released(gone)

    def _decide(self, decision: Decision) -> None:
        """Carry a decision out: keep it, and notify the client."""
        request, kind = decision.request, decision.kind
        vlog.log("manager", lambda: f"{request}: {kind.value}, {decision.because}")
        if kind in _STATUSES:
            self.metrics.responded(request.uid.number, request.model.id, _STATUSES[kind])
            self._tell(request.client, partial(self._send_decision, request, _STATUSES[kind]))
        elif kind is Kind.UNLOAD:
            self._ask_unload(request, decision.reason)
        elif kind in (Kind.LOADED, Kind.LOADED_UNGRANTED):
            self.metrics.loaded(request.uid.number, request.model.id)
        elif kind is not Kind.IGNORED:
            self._finish(request, kind)
        if self.watch is not None:
            self._record(decision, self.watch)

    def _finish(self, request: Request, kind: Kind) -> None:
        self.table.remove(request)
        callback, model = request.callback, request.model
        if kind is Kind.CANCEL:
            self.metrics.cancelled(request.uid.number, model.id)
            status = CompletionStatus.CANCELLED
        else:
            status = CompletionStatus.COMPLETE
        self.metrics.unloaded(request.uid.number, model.id)
        if kind is not Kind.DROP:
            self._tell(request.client, lambda: callback.on_model_load_request_complete(model, status))

    def _ask_unload(self, request: Request, reason: int | None) -> None:
        callback, model = request.callback, request.model
        told = reason if self.flags[Flag.UNLOAD_REASON] else None
        self._tell(request.client, lambda: callback.on_request_unload_model(model, told))
        self.delivery.later(lambda: self._unload_is_due(request), self.unload_timeout_ns)

    def _unload_is_due(self, request: Request) -> None:
        """End a request whose unload is overdue: its room counts as free for those that wait (NPU-LIF-027)."""
        with self._lock:
            if request.state is State.ASKED:
                self._decide(Decision(Kind.IGNORED, request, f"for {self.unload_timeout_ns / 1e9:g} s"))
                self._end(request.uid.number, request.model.id, Kind.CANCEL, "the client ignored an unload request")

    def _tell(self, client: Client, send: Callable[[], None]) -> None:
        if not self.delivery.post(client.caller, partial(self._deliver, client, send)):
            vlog.log("manager", lambda: f"{client.caller} does not listen, and is dropped")
            self.delivery.later(partial(self.connection_closed, client.caller), 0)

    def _deliver(self, client: Client, send: Callable[[], None]) -> None:
        if not client.alive:
            return
        try:
            send()
        except DeadObject:
            with self._lock:
                self._remove_clients([client])

    def _send_decision(self, request: Request, status: LoadStatus) -> None:
        listener = StatusListener(self, request.uid.number)
        request.callback.on_can_load_model(request.model, status, listener)

    def _record(self, decision: Decision, watch: Watcher) -> None:
        request = decision.request
        watch(
            Record(
                self.delivery.now_ns(),
                decision.kind,
                request.uid.number,
                request.model.id,
                request.model.size,
                decision.because,
                decision.reason,
                self.policy.used,
                self.policy.ceiling,
            )
        )


class StatusListener(ModelLoadStatusListener):
    """The token of one decision. Only the uid that got it may use it, for any of its requests (NPU-LIF-024)."""

    def __init__(self, manager: NpuManager, owner: int) -> None:
        self._manager = manager
        self._owner = owner

    def notify_model_loaded(self, request: ModelLoadRequest) -> None:
        """Note that the model is in memory; no effect for a request that is another uid's, unknown or completed."""
        self._manager.model_loaded(request.id, self._owner)

    def notify_model_unloaded(self, request: ModelLoadRequest) -> None:
        """Complete the request; no effect for a request that is another uid's, unknown or completed."""
        self._manager.model_unloaded(request.id, self._owner)


class WorkEvents(SchedulingCallback):
    """The manager's callback at the HAL. Work counts for the uid for which it was done; -1 is the submitter itself."""

    def __init__(self, manager: NpuManager) -> None:
        self._manager = manager

    def on_work_requested(self, work: WorkInfo) -> None:
        """Log the event, and know its uid from now on."""
        self._manager.metrics.work_requested(work)
        self._manager.works.requested(_worker(work))
        self._manager.work_seen(_worker(work))

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        """Log the event."""
        self._manager.works.started(_worker(work))
        self._manager.metrics.work_started(work, reason)

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        """Log the event; only completion ends a turn (NPU-POL-019)."""
        self._manager.works.ended(_worker(work), reason)
        self._manager.metrics.work_ended(work, reason)
        if reason == EndReason.COMPLETED:
            self._manager.work_completed(_worker(work))


def _worker(work: WorkInfo) -> int:
    return work.original_uid if work.original_uid >= 0 else work.uid
