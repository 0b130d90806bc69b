"""The process of a scripted driver: it dies, restarts or is revived, and keeps the record of its calls."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from npu_conformance.specs.errors import DeadObject, InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import FOR_EVER, DriverCall, DriverScript, Misbehaviour
from npu_conformance.specs.versions import Version


class Call(msgspec.Struct):
    """A call, recorded when it begins. found: how it is to misbehave, None where it does not.

    status: what it answers; NONE while it is under way.
    """

    method: str
    found: Misbehaviour | None = None
    status: int = ErrorStatus.NONE
    asked: dict[str, Any] = msgspec.field(default_factory=dict)


class ScriptedService:
    """See planning.services.Service. make: the device of a new process, whose number it is given."""

    def __init__(self, script: DriverScript, make: Callable[[ScriptedService, int], hal.Device]) -> None:
        self.script = script
        self.name: str = script.name
        self.version: Version = script.hal
        self._make = make
        self._process, self._is_alive, self._is_released = 0, True, False
        self._device = make(self, 0)
        self._counts: dict[str, int] = {}
        self._calls: list[Call] = []
        self._listeners: list[Callable[[], None]] = []
        self._changed = threading.Condition()
        self._later: list[Callable[[], None]] = []

    def acquire(self, *, wait: bool) -> hal.Device | None:
        """See Service. A process that restarts is there at once."""
        with self._changed:
            if not self._is_alive and self.script.restarts:
                self._start()
            if wait:
                self._changed.wait_for(lambda: self._is_alive)
            return self._device if self._is_alive else None

    def on_death(self, listener: Callable[[], None]) -> None:
        """See Service."""
        self._listeners.append(listener)

    def revive(self) -> None:
        """Start the process again, where it has died."""
        with self._changed:
            if not self._is_alive:
                self._start()

    def release(self) -> None:
        """Let calls return that are held, now and in future."""
        with self._changed:
            self._is_released = True
            later, self._later = self._later, []
            self._changed.notify_all()
        for action in later:
            action()

    def when_released(self, action: Callable[[], None]) -> None:
        """Do something once calls are let go; now where they are."""
        with self._changed:
            if not self._is_released:
                self._later.append(action)
                return
        action()

    def die(self) -> None:
        """End the process; whoever waits for it is told."""
        with self._changed:
            self._is_alive = False
        for listener in self._listeners:
            listener()

    @property
    def calls(self) -> tuple[DriverCall, ...]:
        """What was asked until now, in order."""
        with self._changed:
            return tuple(DriverCall(one.method, one.status, **one.asked) for one in self._calls)

    @contextlib.contextmanager
    def call(self, process: int, method: str, as_named: str | None = None, **asked: Any) -> Iterator[Call]:
        """Record a call, and let it misbehave where that happens to every method alike.

        method: by which misbehaviours know it. as_named: in the record, where that is another. asked: its arguments.
        """
        call = Call(as_named or method, asked=asked)
        with self._changed:
            self._calls.append(call)
        try:
            self._check_alive(process)
            call.found = self._misbehaviour(method)
            self._misbehave(call.found)
            yield call
        except InterfaceError as error:
            call.status = error.status if isinstance(error, ServiceError) else ErrorStatus.DEVICE_UNAVAILABLE
            raise

    def _start(self) -> None:
        self._process += 1
        self._is_alive = True
        self._device = self._make(self, self._process)
        self._changed.notify_all()

    def _check_alive(self, process: int) -> None:
        with self._changed:
            if not self._is_alive or process != self._process:
                raise DeadObject(f"the process of {self.name} has died")

    def _misbehaviour(self, method: str) -> Misbehaviour | None:
        """How this call of a method is to misbehave; counts it."""
        with self._changed:
            number = self._counts[method] = self._counts.get(method, 0) + 1
        for one in self.script.misbehaviours:
            is_over = one.count != FOR_EVER and number >= one.first + one.count
            if one.method == method and number >= one.first and not is_over:
                return one
        return None

    def _misbehave(self, found: Misbehaviour | None) -> None:
        if found is None:
            return
        if found.kind == "status":
            raise ServiceError(found.status, "as the script says")
        if found.kind == "dies":
            self.die()
            raise DeadObject(f"{self.name} dies, as the script says")
        if found.kind == "blocks":
            with self._changed:
                self._changed.wait_for(lambda: self._is_released)
