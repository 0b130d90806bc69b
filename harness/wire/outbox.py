"""Sending on a connection: messages become lines; small ones that nobody waits for travel with the next one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import bound_methods, contract_interfaces
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.journal import Page
from npu_conformance.harness.wire.objects import ObjectTable
from npu_conformance.harness.wire.protocol import FenceNews
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.interfaces import is_interface
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.wire_types import NonFinite

UNWRITABLE = (TypeError, DeadObject, msgspec.EncodeError, OverflowError, UnicodeEncodeError)
"""The exceptions for what is no value of JSON, or has an object in it that cannot be passed."""

_LIKELY = 3
"""How many interfaces are named that a class may have meant to inherit from."""


class Outbox:
    """The messages of one side, in order. Any thread may send."""

    def __init__(self, lines: LineSocket, objects: ObjectTable, page: Page | None = None) -> None:
        self._lines = lines
        self._objects = objects
        self._page = page
        self._encoder = msgspec.json.Encoder(enc_hook=self._encode_special)
        self._waiting = bytearray()
        self._lock = threading.RLock()

    def add(self, message: object) -> None:
        """Send with the next message. Raises TypeError for what cannot cross the wire."""
        with self._lock:
            start = len(self._waiting)
            try:
                start = self._add_releases(start)
                self._encoder.encode_into(message, self._waiting, -1)
            except BaseException:
                del self._waiting[start:]
                raise
            self._waiting += b"\n"
            if self._page is not None:
                self._page.sent(self._waiting, start)
            self._introduce_fences(start)

    def send(self, message: object, deadline: float, descriptor: int | None = None) -> None:
        """Send now, after what was waiting. A descriptor travels with the message's first byte. Raises WireError."""
        with self._lock:
            if descriptor is not None:
                self._add_releases(len(self._waiting))
                self.flush(deadline)
            self.add(message)
            self.flush(deadline, descriptor)

    def flush(self, deadline: float, descriptor: int | None = None) -> None:
        """Send what is waiting. Raises WireError; what was not sent is then lost with the connection."""
        if not self._waiting:
            return
        with self._lock:
            if self._waiting:
                data, self._waiting = self._waiting, bytearray()
                if self._page is not None:
                    self._page.log("to driver", data)
                self._lines.send(data, deadline, descriptor)

    @contextlib.contextmanager
    def paused(self, seconds: float) -> Iterator[None]:
        """Let no other thread send meanwhile; one that is still sending after these seconds is not waited for."""
        is_held = self._lock.acquire(timeout=seconds)
        try:
            yield
        finally:
            if is_held:
                self._lock.release()

    def _add_releases(self, start: int) -> int:
        while (release := self._objects.take_dropped()) is not None:
            self._encoder.encode_into(protocol.Notification("object.release", release), self._waiting, -1)
            self._waiting += b"\n"
            start = len(self._waiting)
        return start

    def _introduce_fences(self, start: int) -> None:
        """Introduce fences that are new to the other side, before the message that passes them."""
        taken = self._objects.take_fresh_fences()
        if not taken:
            return
        fresh = [(number, fence, fence.get_state()) for number, fence in taken]
        news = (protocol.Notification("fence.state", FenceNews(number, state)) for number, _, state in fresh)
        self._waiting[start:start] = b"".join(self._encoder.encode(one) + b"\n" for one in news)
        for number, fence, state in fresh:
            if state == FenceState.UNSIGNALLED:
                self._objects.watch(number, fence)

    def _encode_special(self, value: Any) -> object:
        return encode_special(value, self._objects.number_of)


def encode_special(value: Any, number_of: Callable[[Any], int]) -> object:
    """What stands in JSON for a value that msgspec does not know. number_of: numbers an object. Raises TypeError."""
    if isinstance(value, NonFinite):
        return value.spelling
    if is_interface(type(value)):
        return number_of(value)
    raise TypeError(f"{_named(value)} cannot cross the wire{_instead(value)}")


def _named(value: Any) -> str:
    """The type of a value. That numpy calls one of its types `bool`, too, is no help to a reader."""
    kind = type(value)
    if _is_of_numpy(kind):
        return f"numpy.{'bool_' if kind.__name__ == 'bool' else kind.__name__}"
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _instead(value: Any) -> str:
    """What to write instead of a value of numpy's, or how an object can be called; empty for any other."""
    if not _is_of_numpy(type(value)) or not hasattr(value, "dtype"):
        return _as_object(type(value))
    if value.shape:
        return ": use x.tolist(), or x.tobytes() for the bytes of a tensor"
    made = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}.get(value.dtype.kind)
    return f": use {made}(x)" if made else ""


def _as_object(kind: type) -> str:
    """What a class has to inherit from to be called, by the names of its methods; empty where these say nothing."""
    methods = {one: [method.name for method in bound_methods(one).values()] for one in contract_interfaces()}
    counts = {one: sum(callable(getattr(kind, name, None)) for name in names) for one, names in methods.items()}
    likely = [one for one, count in counts.items() if count and count == max(counts.values())]
    likely.sort(key=lambda one: -len(methods[one]))
    names = " or ".join(f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one in likely[:_LIKELY])
    return f": let {kind.__name__} inherit from its interface, {names}" if names else ""


def _is_of_numpy(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "numpy"
