"""NPU Managers with bugs that only some histories show. Option `bug` says which one."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.npu_manager.boundary import Callback, FaultyManager, Listener
from npu_conformance.reference.manager.decisions import Decision, Kind
from npu_conformance.reference.manager.requests import Client, Request, State
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest, PolicyParameters
from npu_conformance.specs.plugin import Context, Plugin, Subject


class _CompletesTwice(FaultyManager):
    """A request that is cancelled while its unload is asked for is completed twice."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._asked: set[tuple[int, int]] = set()

    def on_request_unload_model(self, callback: Callback, request: ModelLoadRequest, reason: int | None) -> None:
        self._asked.add((callback.uid, request.id))
        super().on_request_unload_model(callback, request, reason)

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, status)
        was_asked = (callback.uid, request.id) in self._asked
        self._asked.discard((callback.uid, request.id))
        if was_asked and status == CompletionStatus.CANCELLED:
            super().on_model_load_request_complete(callback, request, status)


class _KeepsRoomOfTheDead(FaultyManager):
    """What a process had been granted, and not loaded, keeps its room when the process dies beside a loaded one."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        remove = self.inner._remove_clients  # type: ignore[attr-defined]

        def removed(clients: list[Client]) -> None:
            own = [request for client in clients for request in client.requests.values()]
            if {State.GRANTED, State.LOADED} <= {request.state for request in own}:
                _forget(own)
            else:
                remove(clients)

        self.inner._remove_clients = removed  # type: ignore[attr-defined]


def _forget(requests: list[Request]) -> None:
    for request in requests:
        request.client.alive = False


class _MixesApps(FaultyManager):
    """A cancellation of an id that two apps have, one of them parked, ends the other app's request, too."""

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        table = self.inner.table  # type: ignore[attr-defined]
        same = [one for one in table.live() if one.model.id == request.id and one.uid.number != self.uid]
        has_own = any(one.model.id == request.id and one.uid.number == self.uid for one in table.live())
        self.inner.cancel_model_load(request)
        for other in same:
            if has_own and other.state is State.PARKED:
                with self.playing(other.uid.number):
                    self.inner.cancel_model_load(other.model)


class _HalfSetsPolicy(FaultyManager):
    """A budget policy that is refused for its maximum has dropped the parked requests by then."""

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        manager: Any = self.inner
        if policy == 2 and parameters is not None and parameters.max_budget == 0:
            for request in list(manager.table.live()):
                if request.state is State.PARKED:
                    manager._decide(Decision(Kind.DROP, request, "new policy"))
                    request.state = State.ENDED
        manager.set_policy(policy, parameters)


class _EndsOthers(FaultyManager):
    """An unload of an id ends another app's request of that id, which was asked to unload."""

    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        super().notify_model_unloaded(listener, request)
        table = self.inner.table  # type: ignore[attr-defined]
        for other in list(table.live()):
            if other.model.id == request.id and other.uid.number != self.uid and other.state is State.ASKED:
                with self.playing(other.uid.number):
                    self.inner.cancel_model_load(other.model)


class _ForgetsAfterHal(FaultyManager):
    """An app that moved while the HAL had just come back keeps its old priority there."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        manager: Any = self.inner
        refresh, connect = manager.refresh, manager.hal.connect
        self._skips = 0

        def connected(hal: Any) -> None:
            self._skips = 1 if any(manager.table.live()) else 0
            connect(hal)

        def refreshed(uid: int) -> None:
            skip, self._skips = self._skips, 0
            if skip:
                manager.priorities.follow_app(uid)
            else:
                refresh(uid)

        manager.hal.connect, manager.refresh = connected, refreshed


class _LosesAnswers(FaultyManager):
    """Under pressure a parked request that is not of normal priority is not answered."""

    def on_can_load_model(self, callback: Callback, request: ModelLoadRequest, status: int, listener: Any) -> None:
        pressed = any(self.inner.priorities.pressure)  # type: ignore[attr-defined]
        if pressed and status == 2 and request.priority:
            return
        super().on_can_load_model(callback, request, status, listener)


BUGS: dict[str, type[FaultyManager]] = {
    "completes-twice": _CompletesTwice,
    "keeps-room-of-the-dead": _KeepsRoomOfTheDead,
    "mixes-apps": _MixesApps,
    "half-sets-policy": _HalfSetsPolicy,
    "ends-others": _EndsOthers,
    "forgets-after-hal": _ForgetsAfterHal,
    "loses-answers": _LosesAnswers,
}


def _create(context: Context) -> Subject:
    manager = BUGS.get(context.options.get("bug", "none"), FaultyManager)(context)
    return Subject(manager=manager, manager_control=manager.control)


plugin = Plugin(
    Manifest(
        name="managed",
        vendor="tests",
        version="1",
        interfaces=("manager", "manager_control"),
        virtual_clock=True,
        options={"bug": "which one"},
    ),
    _create,
)
