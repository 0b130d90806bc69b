"""What reads the wire, each time with one bug: a name of the reading code, and what stands in its place."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from npu_conformance.harness.subject.files import ServedFiles
from npu_conformance.harness.wire import decoding, protocol
from npu_conformance.harness.wire.decoding import UNREADABLE, Decoders
from npu_conformance.harness.wire.objects import ObjectTable
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

Reader = Callable[..., Any]


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The JSON with each of its leaves changed."""
    if isinstance(value, dict):
        return {name: _mapped(inside, change) for name, inside in value.items()}
    return [_mapped(inside, change) for inside in value] if isinstance(value, list) else change(value)


def _told_otherwise(change: Callable[[Any], Any]) -> Callable[[Reader], Reader]:
    """A decoder of values that takes each leaf for another one."""

    def planted(decode: Reader) -> Reader:
        def read(self: Decoders, kind: Any, raw: bytes) -> Any:
            plain = msgspec.json.decode(raw)
            changed = _mapped(plain, change)
            return decode(self, kind, raw if changed is plain else msgspec.json.encode(changed))

        return read

    return planted


def _otherwise_read(change: Callable[[Any], Any]) -> Callable[[Reader], Reader]:
    """A decoder of values that tries once more, each leaf changed, where it cannot read."""

    def planted(decode: Reader) -> Reader:
        def read(self: Decoders, kind: Any, raw: bytes) -> Any:
            try:
                return decode(self, kind, raw)
            except UNREADABLE:
                changed = _mapped(msgspec.json.decode(raw), change)
                return decode(self, kind, msgspec.json.encode(changed))

        return read

    return planted


def _whole(leaf: Any) -> Any:
    """A float where an integer is to be loses its fraction."""
    return int(leaf) if isinstance(leaf, float) and math.isfinite(leaf) else leaf


def _number(leaf: Any) -> Any:
    """True is 1."""
    return int(leaf) if isinstance(leaf, bool) else leaf


def _unsigned(leaf: Any) -> Any:
    """A number below those of 32 bits loses its sign."""
    return -leaf if type(leaf) is int and leaf < -(2**31) else leaf


def _of_64_bits(leaf: Any) -> Any:
    """A number above those of 64 bits is cut."""
    return leaf % 2**64 if type(leaf) is int and leaf >= 2**64 else leaf


def _without_its_sign(leaf: Any) -> Any:
    """Minus zero becomes zero."""
    return 0.0 if leaf == 0 and type(leaf) is float else leaf


def _takes_nan(decode: Reader) -> Reader:
    """NaN is read as Python's reader of JSON does."""

    def read(line: bytes) -> Any:
        try:
            return decode(line)
        except UNREADABLE:
            return decode(re.sub(rb"(?<=[:,\[])NaN", b'"NaN"', line))

    return read


def _expects_a_status(exception: Reader) -> Reader:
    """The status of a service error is looked up before anybody asks whether it is there."""

    def read(error: protocol.ErrorObject) -> Any:
        if error.code == protocol.SERVICE_ERROR:
            assert error.data is not None
        return exception(error)

    return read


def _knows_every_status(exception: Reader) -> Reader:
    """A status is one of the enum's."""

    def read(error: protocol.ErrorObject) -> Any:
        if error.code == protocol.SERVICE_ERROR and error.data is not None and error.data.status is not None:
            ErrorStatus(error.data.status)
        return exception(error)

    return read


def _walks_the_traceback(exception: Reader) -> Reader:
    """What stands in the place of a traceback is walked by recursion."""

    def walk(value: Any) -> int:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + sum(walk(one) for one in inside)

    def read(error: protocol.ErrorObject) -> Any:
        walk(error.data.traceback if error.data else None)
        return exception(error)

    return read


def _knows_every_object(own: Reader) -> Reader:
    """The number of an object of one's own is one that was given."""

    def read(self: ObjectTable, number: int, interface: type) -> Any:
        self._exported[number]
        return own(self, number, interface)

    return read


def _expects_an_object(decode: Reader) -> Reader:
    """Params name an object, or are none."""

    def read(self: Decoders, kind: Any, raw: bytes) -> Any:
        if isinstance(kind, type) and "object" in getattr(kind, "__struct_fields__", ()):
            plain = json.loads(bytes(raw))
            if isinstance(plain, dict) and plain:
                plain["object"]
        return decode(self, kind, raw)

    return read


def _passes_over_letters(decode: Reader) -> Reader:
    """What is no letter of base64 is passed over."""

    def read(self: Decoders, kind: Any, raw: bytes) -> Any:
        if kind is bytes and bytes(raw).startswith(b'"'):
            return base64.b64decode(bytes(raw).strip(b'"') + b"==")
        return decode(self, kind, raw)

    return read


def _makes_room(read_file: Reader) -> Reader:
    """Room is made for all that is asked for, before its size is looked at."""

    def read(self: ServedFiles, token: int, offset: int, length: int) -> Any:
        bytearray(min(abs(length), 1 << 40))
        return read_file(self, token, offset, length)

    return read


BUGS: dict[str, tuple[Any, str, Callable[[Reader], Reader]]] = {
    "float-for-int": (Decoders, "decode", _otherwise_read(_whole)),
    "bool-for-int": (Decoders, "decode", _otherwise_read(_number)),
    "loses-sign": (Decoders, "decode", _told_otherwise(_unsigned)),
    "cut-to-64-bits": (Decoders, "decode", _told_otherwise(_of_64_bits)),
    "plus-zero": (Decoders, "decode", _told_otherwise(_without_its_sign)),
    "takes-nan": (decoding, "message", _takes_nan),
    "no-status": (protocol, "exception", _expects_a_status),
    "unknown-status": (protocol, "exception", _knows_every_status),
    "deep-traceback": (protocol, "exception", _walks_the_traceback),
    "unknown-object": (ObjectTable, "own", _knows_every_object),
    "missing-object": (Decoders, "decode", _expects_an_object),
    "loose-base64": (Decoders, "decode", _passes_over_letters),
    "believes-length": (ServedFiles, "read", _makes_room),
}
"""By the name of a bug: whose attribute it is, the attribute, and what makes the one with the bug of it."""
