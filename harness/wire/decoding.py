"""Reading what the other side says: messages, and values in which objects are numbers."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.framing import truncated
from npu_conformance.specs.decoders import decoder
from npu_conformance.specs.documents import explained
from npu_conformance.specs.documents.problems import problems
from npu_conformance.specs.interfaces import is_interface

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions for bytes that are no message, or no value of the type."""

message = msgspec.json.Decoder(protocol.Envelope).decode
"""Decode one line; raises one of UNREADABLE."""


class Known(Protocol):
    """Knows what the numbers of objects mean."""

    def object_of(self, number: int, interface: type) -> Any:
        """The object. Raises DeadObject or ValueError for a wrong one."""
        ...


def wrong_type(error: Exception, kind: Any, raw: bytes) -> str:
    """Say of a result that cannot be read as its type what is wrong with it."""
    rule, path = explained(error, kind)
    return f"a result of the wrong type at {path}: {rule}: {truncated(raw)}"


def all_wrong_types(answer: bytes) -> str:
    """Every rule that an answer to initialize breaks: whoever writes a manifest has all of them to mend."""
    try:
        found = problems(msgspec.json.decode(answer), protocol.Initialized)
    except UNREADABLE:
        return ""
    return f"a result of the wrong type at {found}: {truncated(answer)}" if found else ""


class Decoders:
    """Decodes values whose object numbers belong to one connection."""

    def __init__(self, objects: Known) -> None:
        self._objects = objects
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    def decode(self, kind: Any, raw: bytes | msgspec.Raw) -> Any:
        """A value of the type. Raises one of UNREADABLE, and DeadObject or ValueError for a wrong object."""
        found = self._decoders.get(kind)
        if found is None:
            found = self._decoders[kind] = decoder(kind, self._decode_special)
        return found.decode(raw)

    def _decode_special(self, kind: type, value: Any) -> Any:
        if not is_interface(kind):
            raise NotImplementedError(f"{kind.__name__} cannot cross the wire")
        if type(value) is not int:
            raise ValueError(f"Expected the number of an object, found {type(value).__name__}")
        return self._objects.object_of(value, kind)
