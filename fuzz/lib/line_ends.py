"""The two ends that read lines: the harness's, and a host's. Behind each are objects that answer every call."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, cast

import msgspec

from npu_conformance.fuzz.lib import line_samples
from npu_conformance.fuzz.lib.memory_folder import memory_folder
from npu_conformance.fuzz.lib.scripted_socket import ScriptedSocket
from npu_conformance.harness.subject.files import CacheFile, ServedFiles
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import BoundMethod, find_method
from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import NEVER, LineSocket
from npu_conformance.harness.wire.outstanding import Outstanding
from npu_conformance.harness.wire.session import ROOTS, HostConnection, HostState
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Caller, Context, Plugin, Subject

LINE_LIMIT = 16384
"""Bytes of the longest line that an end takes."""
MANIFEST = Manifest(name="lines", vendor="fuzz", version="1", interfaces=ROOTS)
TOKEN = 3
"""Of the file that the harness serves, and of the memory that a host has."""
RESULTS: dict[str, Any] = {
    "initialize": protocol.Initialized,
    "ping": None,
    "memory.attach": None,
    "memory.read": bytes,
    "file.attach": None,
    "control.ticket": protocol.Ticket,
}
"""What the harness asks by the protocol's own methods, and the types of the answers."""
_HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
_NOTHING = protocol.Nothing()


class EndedError(Exception):
    """How the harness tells that a connection has ended, or that the other side has failed."""


class Read:
    """What an end has read of one line: values with their types."""

    def __init__(self) -> None:
        self.values: list[tuple[Any, Any]] = []

    def noting(self, kind: Any, handler: Callable[[Any], object]) -> Callable[[Any], object]:
        """A handler of the protocol's own whose params are noted."""

        def note(params: Any) -> object:
            self.values.append((kind, params))
            return handler(params)

        return note


class End(Connection):
    """What both ends share: all that came before a line is forgotten, but for what the protocol's own methods did.

    sign: of the numbers of its objects.
    """

    sign: int
    socket: ScriptedSocket
    read: Read

    def take(self, line: bytes, method: str) -> bytes:
        """Read a line, while an answer to a method is awaited where one is named; returns what is sent.

        Raises how the connection has ended, or what the line says that the other side has raised.
        """
        self.read.values.clear()
        self.broken, self._outstanding = None, Outstanding()
        self.socket.say(line + b"\n")
        if method:
            kind = result_of(method)
            self.read.values.append((kind, self.call(method, _NOTHING, kind)))
        else:
            self.serve_one()
        return self.socket.taken()

    def perform_call(self, interface: type, method: BoundMethod, params: Any) -> object:
        """Call an object of this side; params of an object that it does not have are nothing that was read."""
        result = super().perform_call(interface, method, params)
        self.read.values.append((method.params, params))
        return result

    def encoded(self, value: object) -> bytes:
        """A value as this side sends it."""
        self.socket.say(b"")
        self._outbox.send(value, NEVER)
        return self.socket.taken().split(b"\n")[-2]

    def decoded(self, kind: Any, encoded: bytes) -> Any:
        """A value as this side reads it."""
        return self._decoders.decode(kind, encoded)

    def let_go(self) -> None:
        """Close what is open, and forget the memory that was attached."""
        self.close()

    def _begin(self) -> None:
        """Make every object known, under its number, and have the params of the protocol's own methods noted."""
        self.read = Read()
        for kind in line_samples.interfaces():
            self.objects.number_of(_OBJECTS[kind])
        self.builtins = {name: (kind, self.read.noting(kind, each)) for name, (kind, each) in self.builtins.items()}
        self.broken = None


class HarnessEnd(End):
    """The harness's end, which reads what a server says."""

    sign = -1

    def __init__(self) -> None:
        self.socket = ScriptedSocket(b"")
        lines = LineSocket(cast(Any, self.socket), LINE_LIMIT)
        super().__init__(lines, -1, strict=True, problem=lambda problem, method: EndedError(f"{method}: {problem}"))
        self._served = ServedFiles()
        with memory_folder() as folder:
            file = CacheFile(folder, bytes(range(64)))
            self._served.add(TOKEN, file, file.reopened("read_write", 0))
            file.close()
        self._end = weakref.finalize(self, self._served.close_all)
        self.builtins.update(self._served.builtins())
        self._begin()

    def let_go(self) -> None:
        """Close the files, too."""
        super().let_go()
        self._end()


class HostEnd(End, HostConnection):
    """A host's end, which reads what its client says; the handshake is over."""

    sign = +1

    def __init__(self) -> None:
        self.socket = ScriptedSocket(_HELLO)
        lines = LineSocket(cast(Any, self.socket), LINE_LIMIT)
        host = HostState(Plugin(manifest=MANIFEST, create=_subject))
        HostConnection.__init__(self, lines, host, Caller(0, 0), control=False, open_to_all=True)
        self.serve_one()
        self._begin()

    def _read(self, deadline: float) -> protocol.Envelope | None:
        """What may be handled in a thread of its own is handled here: it is over when the line is."""
        envelope = super()._read(deadline)
        if envelope is None or not envelope.concurrent:
            return envelope
        return msgspec.structs.replace(envelope, concurrent=False)


def result_of(method: str) -> Any:
    """The type of a method's answer; None, as that of ping, where nobody knows the method."""
    if method in RESULTS:
        return RESULTS[method]
    found = find_method(method)
    return found[1].result if found else None


def _subject(context: Context) -> Subject:
    return Subject(**{name: _OBJECTS[kind] for name, kind in zip(ROOTS, line_samples.interfaces(), strict=False)})


def _answering(result: Any) -> Callable[..., Any]:
    """A method that gives a value of its type, always the same."""
    values: list[Any] = []

    def answer(*_: object) -> Any:
        if not values:
            values.append(line_samples.value(result, _OBJECTS))
        return values[0]

    return answer


def _object(kind: type) -> Any:
    methods = {name: _answering(method.result) for name, method in describe(kind).items()}
    return type(f"Answering{kind.__name__}", (kind,), {**methods, "__init__": lambda self: None})()


_OBJECTS: dict[type, Any] = {kind: _object(kind) for kind in line_samples.interfaces()}
