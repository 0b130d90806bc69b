"""The messages of the wire: envelope, handshake, memory, identity, errors. docs/wire-protocol.md describes them."""

from __future__ import annotations

import re

import msgspec

from npu_conformance.specs import errors
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.naming import camel_case

PROTOCOL_VERSION = 1
LINE_LIMIT = 64 << 20
"""Bytes of one message, newline included."""
DATA_LIMIT = 16 << 20
"""Bytes of memory in one memory.read or memory.write."""
SOCKET_VARIABLE = "NPU_CONFORMANCE_FD"
"""Environment variable with the number of the inherited socket."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVICE_ERROR = -32001
ILLEGAL_ARGUMENT = -32002
ILLEGAL_STATE = -32003
SECURITY_DENIED = -32004
DEAD_OBJECT = -32005
UNSUPPORTED = -32006
MEMORY_UNREACHABLE = -32007
"""The host cannot reach memory by the offered transport; the harness tries the next one."""
NOT_VISIBLE = -32008

TRANSPORTS = ("path", "descriptor", "message")

LONGEST_WORDS = 4000
"""Characters that are kept of what an error says."""

_CODES: tuple[tuple[type[errors.InterfaceError], int], ...] = (
    (errors.ServiceError, SERVICE_ERROR),
    (errors.IllegalArgument, ILLEGAL_ARGUMENT),
    (errors.IllegalState, ILLEGAL_STATE),
    (errors.SecurityDenied, SECURITY_DENIED),
    (errors.DeadObject, DEAD_OBJECT),
    (errors.NotVisible, NOT_VISIBLE),
    (errors.Unsupported, UNSUPPORTED),
)
_CLASSES = {code: kind for kind, code in _CODES if kind is not errors.ServiceError}


class Message(msgspec.Struct, frozen=True, rename=camel_case):
    """Base of the protocol's own messages. Unknown fields are ignored."""


class ErrorData(Message, frozen=True, omit_defaults=True):
    """Machine-readable part of an error: the ErrorStatus of a SERVICE_ERROR, the traceback of an INTERNAL_ERROR.

    traceback: text for people; what is no text is passed over.
    """

    status: int | None = None
    traceback: object = None


class ErrorObject(Message, frozen=True, omit_defaults=True):
    """JSON-RPC's error."""

    code: int
    message: str = ""
    data: ErrorData | None = None


class Envelope(Message, frozen=True):
    """Any incoming line. A request or notification has `method`; an answer has `result` or `error`.

    concurrent: the request may be handled beside others, in any order.
    """

    jsonrpc: str = ""
    concurrent: bool = False
    id: int | None = None
    method: str | None = None
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorObject | None = None


class Call(Message, frozen=True):
    """An outgoing request."""

    id: int
    method: str
    params: object
    jsonrpc: str = "2.0"


class ConcurrentCall(Call, frozen=True):
    """An outgoing request that may be handled beside others, as only drivers get that say they can."""

    concurrent: bool = True


class Notification(Message, frozen=True):
    """An outgoing message without an answer."""

    method: str
    params: object
    jsonrpc: str = "2.0"


class Answer(Message, frozen=True):
    """An outgoing result."""

    id: int
    result: object
    jsonrpc: str = "2.0"


class Refusal(Message, frozen=True):
    """An outgoing error. Its id is None where the request's could not be read."""

    id: int | None
    error: ErrorObject
    jsonrpc: str = "2.0"


class Nothing(Message, frozen=True):
    """Params of a method without any."""


class Initialize(Message, frozen=True, omit_defaults=True):
    """First request on every connection. key: makes it the control connection; ticket: binds it to a uid."""

    protocol_version: int
    client: str = ""
    transports: tuple[str, ...] = ()
    options: dict[str, str] = {}
    key: str | None = None
    ticket: str | None = None


class Initialized(Message, frozen=True):
    """Answer to initialize. objects: number of each root interface; identity: control.ticket works here."""

    protocol_version: int
    manifest: Manifest
    objects: dict[str, int]
    transports: tuple[str, ...] = ("message",)
    identity: bool = False


class FenceNews(Message, frozen=True):
    """fence.state: how a fence of the harness stands (FenceState), to a driver that was or will be given it."""

    object: int
    state: int


class Release(Message, frozen=True):
    """object.release: the sender has dropped an object that it had received `count` times."""

    object: int
    count: int


class Attach(Message, frozen=True, omit_defaults=True):
    """memory.attach: make memory known under a token. path: for the transport of that name."""

    token: int
    size: int
    transport: str
    path: str | None = None


class Detach(Message, frozen=True):
    """memory.detach: forget a token."""

    token: int


class MemoryWrite(Message, frozen=True):
    """memory.write: bytes for memory that was attached by message."""

    token: int
    offset: int
    data: bytes


class MemoryRead(Message, frozen=True):
    """memory.read: ask for bytes of memory that was attached by message."""

    token: int
    offset: int
    length: int


class FileAttach(Message, frozen=True, omit_defaults=True):
    """file.attach: make an open file known under a token. access: read, write or read_write. offset: in bytes.

    path: for the transport of that name.
    """

    token: int
    transport: str
    access: str
    offset: int = 0
    path: str | None = None


class FileToken(Message, frozen=True):
    """file.size, file.duplicate, file.close, file.detach: which open file is meant."""

    token: int


class FileRead(Message, frozen=True):
    """file.read: ask for bytes of a file that was attached by message."""

    token: int
    offset: int
    length: int


class FileWrite(Message, frozen=True):
    """file.write: bytes for a file that was attached by message."""

    token: int
    offset: int
    data: bytes


class FileTruncate(Message, frozen=True):
    """file.truncate: the new size of a file that was attached by message."""

    token: int
    size: int


class TicketRequest(Message, frozen=True):
    """control.ticket: who the bearer of the ticket shall be.

    folder: whose files the bearer may name where memory and files travel by path; None for none.
    """

    uid: int
    pid: int = 0
    folder: str | None = None


class Ticket(Message, frozen=True):
    """A ticket, valid once. address: where to present it, None for where this connection was made."""

    ticket: str
    address: str | None = None


class MemoryUnreachableError(Exception):
    """The offered transport does not reach the memory."""


class RemoteError(Exception):
    """The other side answered with an error that is none of specs.errors: its own failure.

    message: printable. traceback: where that happened, as the other side tells it; empty where it does not.
    """

    def __init__(self, code: int, message: str, traceback: object = None) -> None:
        self.code = code
        self.message = message
        self.traceback = stacks.bounded(traceback) if isinstance(traceback, str) else ""
        super().__init__(self._as_exception() or self._as_error())

    def _as_exception(self) -> str:
        """`raised ValueError at driver.py:41 in compute: ...`; empty where it is no exception of Python's."""
        kind, _, words = self.message.partition(": ")
        raised = re.compile(rf"^(?:\w+\.)*{re.escape(kind)}(?::|$)", re.MULTILINE)
        if self.code != INTERNAL_ERROR or not kind.isidentifier() or not raised.search(self.traceback):
            return ""
        place = stacks.place(self.traceback)
        return f"raised {kind}{f' at {place}' if place else ''}{f': {words}' if words else ''}"

    def _as_error(self) -> str:
        place = stacks.place(self.traceback)
        return f"answered with error {self.code}: {f'{place}: ' if place else ''}{self.message}"


def error_object(error: Exception) -> ErrorObject:
    """Return an exception as a JSON-RPC error; one that the interfaces do not know is an internal error."""
    if isinstance(error, errors.ServiceError):
        return ErrorObject(SERVICE_ERROR, _line(error.message), ErrorData(error.status))
    for kind, code in _CODES:
        if isinstance(error, kind):
            return ErrorObject(code, _words(error))
    if isinstance(error, MemoryUnreachableError):
        return ErrorObject(MEMORY_UNREACHABLE, _words(error))
    data = ErrorData(traceback=stacks.of_exception(error))
    return ErrorObject(INTERNAL_ERROR, f"{type(error).__name__}: {_words(error)}", data)


def _words(error: Exception) -> str:
    """What an exception says, which may fail as well: then that."""
    try:
        return _line(str(error))
    except Exception as other:
        return f"(its words cannot be had: {type(other).__name__})"


def _line(text: str) -> str:
    return one_line(text, LONGEST_WORDS)


def exception(error: ErrorObject) -> Exception:
    """Return the exception that a JSON-RPC error stands for; RemoteError for codes that no interface has."""
    message = _line(error.message)
    if error.code == SERVICE_ERROR:
        if error.data is None or error.data.status is None:
            return RemoteError(error.code, "a service error without data.status")
        return errors.ServiceError(error.data.status, message)
    if error.code == MEMORY_UNREACHABLE:
        return MemoryUnreachableError(message)
    if error.code == UNKNOWN_METHOD:
        return errors.Unsupported(message)
    kind = _CLASSES.get(error.code)
    traceback = error.data.traceback if error.data else None
    return kind(message) if kind else RemoteError(error.code, message, traceback)
