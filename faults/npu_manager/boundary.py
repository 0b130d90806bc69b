"""The boundary between apps and the reference NPU Manager, at which the faults bend what crosses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar, Literal

from npu_conformance.reference.manager import service
from npu_conformance.specs.npu.manager import (
    Manager,
    ManagerControl,
    ModelLoadRequestCallback,
    ModelLoadStatusListener,
)
from npu_conformance.specs.npu.types import ModelLoadRequest, PolicyParameters, ShellResult
from npu_conformance.specs.plugin import Caller, Context

Key = tuple[int, int]
"""uid and id of a request."""


class Conforming(Manager):
    """Forwards everything unbent: the boundary itself, which every case has to let pass."""

    breaks: ClassVar[tuple[str, ...]] = ()
    caught_by: ClassVar[str] = ""
    noticed_as: ClassVar[Literal["red", "quality-warning"]] = "red"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._played: int | None = None
        self.manager, self.inner_control = service.create(replace(context, caller=self._caller))
        self.control: ManagerControl = self.inner_control

    @property
    def uid(self) -> int:
        """Who calls, as the manager behind the boundary is told."""
        return self._caller().uid

    @contextmanager
    def playing(self, uid: int) -> Iterator[None]:
        """Make calls to the manager behind the boundary under another uid."""
        self._played = uid
        try:
            yield
        finally:
            self._played = None

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        """Forward, with a callback that passes through `decide`, `ask_unload` and `complete`."""
        watched = None if callback is None else Callback(self, callback, self.uid)
        self.manager.request_can_load_model(request, watched)

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        """Forward."""
        self.manager.cancel_model_load(request)

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        """Forward."""
        self.manager.set_policy(policy, parameters)

    def dump(self) -> str:
        """Forward."""
        return self.manager.dump()

    def shell_command(self, arguments: tuple[str, ...]) -> ShellResult:
        """Forward."""
        return self.manager.shell_command(arguments)

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        """Deliver a decision."""
        callback.client.on_can_load_model(request, status, listener)

    def ask_unload(self, callback: Callback, request: ModelLoadRequest, reason: int | None) -> None:
        """Deliver an unload request."""
        callback.client.on_request_unload_model(request, reason)

    def complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        """Deliver a completion."""
        callback.client.on_model_load_request_complete(request, status)

    def loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        """Take a loaded notification."""
        listener.manager_side.notify_model_loaded(request)

    def unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        """Take an unloaded notification."""
        listener.manager_side.notify_model_unloaded(request)

    def _caller(self) -> Caller:
        caller = self._context.caller()
        return caller if self._played is None else replace(caller, uid=self._played)


class Callback(ModelLoadRequestCallback):
    """A client's callback as the manager behind the boundary sees it."""

    def __init__(self, fault: Conforming, client: ModelLoadRequestCallback, uid: int) -> None:
        self._fault, self.client, self.uid = fault, client, uid

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self._fault.decide(self, request, status, Listener(self._fault, listener, self))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self._fault.ask_unload(self, request, reason)

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self._fault.complete(self, request, status)


class Listener(ModelLoadStatusListener):
    """The manager's listener as the client sees it."""

    def __init__(self, fault: Conforming, manager_side: ModelLoadStatusListener, callback: Callback) -> None:
        self._fault, self.manager_side, self.callback = fault, manager_side, callback

    def notify_model_loaded(self, request: ModelLoadRequest) -> None:
        self._fault.loaded(self, request)

    def notify_model_unloaded(self, request: ModelLoadRequest) -> None:
        self._fault.unloaded(self, request)
