"""The answering half of a connection: what the other side calls is found, performed, and replied to or refused."""

from __future__ import annotations

import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import msgspec

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import BoundMethod, find_method
from npu_conformance.harness.wire.decoding import UNREADABLE, Decoders
from npu_conformance.harness.wire.framing import NEVER, LineSocket, Violation, WireError, truncated
from npu_conformance.harness.wire.journal import Page
from npu_conformance.harness.wire.objects import ObjectTable
from npu_conformance.harness.wire.outbox import UNWRITABLE, Outbox
from npu_conformance.specs.diagnostics import signatures
from npu_conformance.specs.documents import split_path
from npu_conformance.specs.errors import InterfaceError

Builtin = tuple[type[msgspec.Struct], Callable[[Any], object]]
"""Params and handler of a method of the protocol itself."""


class Answering(ABC):
    """Answers the calls of the other side.

    sign, strict, deadline_of and page are as for Connection. builtins: the methods of the protocol itself.
    """

    def __init__(
        self,
        lines: LineSocket,
        sign: int,
        *,
        strict: bool,
        deadline_of: Callable[[str], float] | None,
        page: Page | None,
    ) -> None:
        self.lines = lines
        self.objects = ObjectTable(self, sign)
        self.builtins: dict[str, Builtin] = {"object.release": (protocol.Release, self.objects.release)}
        self._strict = strict
        self._deadline_of = deadline_of or _no_deadline
        self._outbox = Outbox(lines, self.objects, page)
        self._decoders = Decoders(self.objects)
        self._thread = threading.local()

    @abstractmethod
    def _send(self, message: object, deadline: float, descriptor: int | None = None) -> None:
        """Send a message now. Raises WireError."""

    def is_serving(self) -> bool:
        """True in a thread that answers a call of this connection at the moment: nobody else reads meanwhile."""
        return getattr(self._thread, "serving", False)

    def _answer(self, request: protocol.Envelope) -> None:
        assert request.method is not None
        refusal: protocol.ErrorObject
        try:
            result = self._perform(request.method, request)
        except WireError:
            raise
        except _UnreadableParamsError as error:
            rule, path = split_path(str(error))
            refusal = protocol.ErrorObject(protocol.INVALID_PARAMS, f"{request.method}: {path}: {rule}")
        except _UnknownMethodError:
            refusal = protocol.ErrorObject(protocol.UNKNOWN_METHOD, f"no method {request.method}")
        except (InterfaceError, protocol.MemoryUnreachableError) as error:
            refusal = protocol.error_object(error)
        except Exception as error:
            if self._strict:
                raise
            traceback.print_exc()
            refusal = protocol.error_object(error)
        else:
            # Nobody waits for the answer to an attach while the call that needs the memory is here already.
            later = request.method in self.builtins and self.lines.buffered()
            self._reply(request.id, result, later=later)
            return
        if self._strict and refusal.code in (protocol.INVALID_PARAMS, protocol.UNKNOWN_METHOD):
            raise Violation(f"a call that cannot be answered: {refusal.message}")
        self._refuse(request.id, refusal)

    def _perform(self, name: str, request: protocol.Envelope) -> object:
        params = b"{}" if request.params is msgspec.UNSET else request.params
        builtin = self.builtins.get(name)
        if builtin is not None:
            kind, handler = builtin
            return handler(self._params(kind, params))
        found = find_method(name)
        if found is None:
            raise _UnknownMethodError
        return self.perform_call(*found, self._params(found[1].params, params))

    def _params(self, kind: Any, raw: bytes | msgspec.Raw) -> Any:
        """Decode params. The same exceptions may come out of the call itself, and are then whoever's it runs."""
        try:
            return self._decoders.decode(kind, raw)
        except UNREADABLE as error:
            raise _UnreadableParamsError(str(error)) from None

    def perform_call(self, interface: type, method: BoundMethod, params: Any) -> object:
        """Call an object of this side. The host's session overrides it to set the caller's identity."""
        try:
            target = self.objects.own(params.object, interface)
        except ValueError as error:
            raise _UnreadableParamsError(f"{error} - at `$.object`") from None
        fields = params.__struct_fields__[1:]
        was_serving, self._thread.serving = self.is_serving(), True
        function = getattr(target, method.name)
        try:
            return function(*[getattr(params, name) for name in fields])
        except TypeError as error:
            signatures.explain(error, function, f"it is called with {', '.join(fields) or 'no argument'}")
            raise
        finally:
            self._thread.serving = was_serving

    def _reply(self, request_id: int | None, result: object, *, later: bool) -> None:
        """Answer; later: with the next answer, or before the next wait at the latest."""
        if request_id is None:
            return
        answer = protocol.Answer(request_id, result)
        try:
            if later:
                self._outbox.add(answer)
            else:
                self._send(answer, self._answer_by())
        except UNWRITABLE as error:
            text = f"the result cannot cross the wire: {error}"
            self._refuse(request_id, protocol.ErrorObject(protocol.INTERNAL_ERROR, text))

    def _refuse(self, request_id: int | None, error: protocol.ErrorObject, *, unread: bool = False) -> None:
        # A notification has no answer, not even a refusal; a line whose id could not be read has one with id null.
        if request_id is not None or unread:
            self._send(protocol.Refusal(request_id, error), self._answer_by())

    def _answer_by(self) -> float:
        """Until when the other side has to take an answer: one that calls and does not read hangs (on monotonic())."""
        return time.monotonic() + self._deadline_of("wait")

    def _refuse_line(self, line: bytes, error: Exception) -> None:
        if isinstance(error, msgspec.ValidationError):
            rule, path = split_path(str(error))
            text, code = f"not a message: {path}: {rule}", protocol.INVALID_REQUEST
        else:
            text, code = f"not JSON: {error}", protocol.PARSE_ERROR
        if self._strict:
            raise Violation(f"{text}: {truncated(line)}")
        self._refuse(None, protocol.ErrorObject(code, text), unread=True)

    def _breach(self, text: str, request_id: int | None) -> None:
        if self._strict:
            raise Violation(text)
        self._refuse(request_id, protocol.ErrorObject(protocol.INVALID_REQUEST, text), unread=True)


class _UnknownMethodError(Exception):
    pass


class _UnreadableParamsError(Exception):
    pass


def _no_deadline(method: str) -> float:
    return NEVER
