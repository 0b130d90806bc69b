"""The boundary between apps and the reference NPU Manager, at which faulty managers change what crosses it."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault, FaultySubject
from npu_conformance.faults.source_edits import DetectedAs
from npu_conformance.faults.wrapper import Relay, Wrapper, forwarding
from npu_conformance.reference.manager import service
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.npu.manager import (
    Manager,
    ManagerControl,
    ModelLoadRequestCallback,
    ModelLoadStatusListener,
)
from npu_conformance.specs.npu.types import ModelLoadRequest
from npu_conformance.specs.plugin import Caller, Context, Subject
from npu_conformance.specs.versions import Version

INTERFACES: tuple[InterfaceName, ...] = ("manager", "manager_control")

Key = tuple[int, int]
"""The uid and the id of a request."""


@forwarding(Manager)
class FaultyManager(Wrapper, Manager):
    """A manager behind the boundary. inner, inner_control: the reference's; control: the one that the client gets.

    Calls of callbacks and listeners pass through the methods of their names.
    """

    inner: Manager

    def __init__(self, context: Context) -> None:
        self._context = context
        self._played: int | None = None
        manager, self.inner_control = service.create(dataclasses.replace(context, caller=self._caller))
        super().__init__(manager)
        self.control: ManagerControl = self.inner_control

    @property
    def uid(self) -> int:
        """The caller, as the manager behind the boundary sees it."""
        return self._caller().uid

    @contextmanager
    def playing(self, uid: int) -> Iterator[None]:
        """Call the manager behind the boundary under another uid."""
        self._played = uid
        try:
            yield
        finally:
            self._played = None

    def given(self, interface: type, value: Any) -> Any:
        """The reference gets callbacks that pass the boundary."""
        return Callback(value, weakref.ref(self), self.uid) if interface is ModelLoadRequestCallback else value

    def on_can_load_model(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        """Deliver a decision."""
        callback.inner.on_can_load_model(request, status, listener)

    def on_request_unload_model(self, callback: Callback, request: ModelLoadRequest, reason: int | None) -> None:
        """Deliver an unload request."""
        callback.inner.on_request_unload_model(request, reason)

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        """Deliver a completion."""
        callback.inner.on_model_load_request_complete(request, status)

    def notify_model_loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        """Take a loaded notification."""
        listener.inner.notify_model_loaded(request)

    def notify_model_unloaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        """Take an unloaded notification."""
        listener.inner.notify_model_unloaded(request)

    def _caller(self) -> Caller:
        caller = self._context.caller()
        return caller if self._played is None else dataclasses.replace(caller, uid=self._played)


@forwarding(ModelLoadRequestCallback)
class Callback(Relay, ModelLoadRequestCallback):
    """A client's callback as the manager behind the boundary sees it. uid: the client's."""

    inner: ModelLoadRequestCallback

    def __init__(self, inner: ModelLoadRequestCallback, boundary: weakref.ref[Any], uid: int) -> None:
        super().__init__(inner, boundary)
        self.uid = uid

    def given(self, interface: type, value: Any) -> Any:
        """The client gets a listener that passes the boundary."""
        return Listener(value, self.boundary, self)


@forwarding(ModelLoadStatusListener)
class Listener(Relay, ModelLoadStatusListener):
    """The manager's listener as the client sees it. callback: the one that it came with."""

    inner: ModelLoadStatusListener

    def __init__(self, inner: ModelLoadStatusListener, boundary: weakref.ref[Any], callback: Callback) -> None:
        super().__init__(inner, boundary)
        self.callback = callback


def faulty_manager(kind: type[FaultyManager]) -> FaultySubject:
    """The reference manager behind this kind of boundary."""

    def create(context: Context, _: Version) -> Subject:
        manager = kind(context)
        return Subject(manager=manager, manager_control=manager.control)

    return FaultySubject(create, INTERFACES)


_fault = functools.partial(fault, family="manager", area="cts.npu_manager")


def manager_fault(
    name: str, description: str, breaks: str, caught_by: str, kind: type[FaultyManager], detected_as: DetectedAs = "red"
) -> Fault:
    """A fault of a manager behind the boundary, as a row of a table."""
    return _fault(name, description, breaks, caught_by, faulty_manager(kind), detected_as=detected_as)
