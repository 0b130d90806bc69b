"""What must become of a line: read as it is, or refused.

The type of a value says which. It is held against the JSON by another way than the wire's: any JSON first, then
converted, so that what a decoder loses, adds or mixes up shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from npu_conformance.fuzz.lib import line_samples
from npu_conformance.fuzz.lib.findings import Defect
from npu_conformance.fuzz.lib.line_ends import End, result_of
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import find_method
from npu_conformance.harness.wire.decoding import UNREADABLE
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.interfaces import is_interface

_NO_OBJECT = (ValueError, InterfaceError)
"""How an end refuses the number of an object."""
_DEEP = 400
"""Levels that every end reads."""
_REFUSED = {protocol.PARSE_ERROR, protocol.INVALID_REQUEST, protocol.INVALID_PARAMS, protocol.UNKNOWN_METHOD}
_plain = msgspec.json.Decoder().decode


class _Message(protocol.Message, frozen=True):
    """An envelope with any JSON in it."""

    jsonrpc: str = ""
    concurrent: bool = False
    id: int | None = None
    method: str | None = None
    params: Any = msgspec.UNSET
    result: Any = msgspec.UNSET
    error: protocol.ErrorObject | None = None


class Due(NamedTuple):
    """What is to be read of a line: the value, its type, and the JSON that it is told by."""

    kind: Any
    value: Any
    told: Any


def due(end: End, line: bytes, awaited: str, *, loosely: bool = False) -> Due | None:
    """What an end has to read of a line; None where it has to refuse it, or reads no value. awaited: see End.take.

    loosely: what it may read of a line of which not all is JSON. Readers pass over what they do not know unseen.
    """
    try:
        plain = json.loads(line.decode(errors="replace"), parse_constant=_no_json) if loosely else _plain(line)
        message = msgspec.convert(plain, _Message)
    except (*UNREADABLE, ValueError):
        return None
    if message.method is not None:
        return _due_call(end, message.method, {} if message.params is msgspec.UNSET else message.params)
    if not awaited or message.id != 1 or message.error is not None or message.result is msgspec.UNSET:
        return None
    return _due_value(end, result_of(awaited), message.result)


def _no_json(constant: str) -> None:
    raise ValueError(constant)


def _due_call(end: End, name: str, params: Any) -> Due | None:
    builtin = end.builtins.get(name)
    if builtin is not None:
        return _due_value(end, builtin[0], params)
    found = find_method(name)
    if found is None:
        return None
    value = _due_value(end, found[1].params, params)
    return value if value is not None and _is_given(end.sign * value.value.object, found[0]) else None


def _is_given(number: int, interface: type) -> bool:
    """True where an end has given an object of the interface under a number, its sign apart."""
    known = line_samples.interfaces()
    return 0 < number <= len(known) and issubclass(known[number - 1], interface)


def _due_value(end: End, kind: Any, told: Any) -> Due | None:
    def special(interface: type, number: Any) -> Any:
        if not is_interface(interface) or type(number) is not int:
            raise ValueError(number)
        found = end.objects.object_of(number, interface)
        if not isinstance(found, interface):
            words = f"object {number}: expected {interface.__name__}, found {type(found).__name__}"
            raise Defect(words, "an object of another interface")
        return found

    try:
        return Due(kind, msgspec.convert(told, kind, dec_hook=special), told)
    except (*UNREADABLE, *_NO_OBJECT):
        return None


def judge_read(end: End, line: bytes, awaited: str, wanted: Due | None, found: Iterable[tuple[Any, Any]]) -> None:
    """Hold the values that were read against what is due, and send them round. Raises Defect."""
    for kind, value in found:
        wanted = wanted or due(end, line, awaited, loosely=True)
        if wanted is None:
            raise Defect(f"read as {kind_name(kind)}, which it is not: {value!r:.200}", "reading what it may not")
        encoded = end.encoded(value)
        if not _are_equal(value, wanted.value):
            raise Defect(f"{kind_name(kind)}: expected {wanted.value!r:.200}, found {value!r:.200}", "reading")
        where = _difference(_plain(encoded), wanted.told)
        if where is not None:
            raise Defect(f"{kind_name(kind)}{where} is not what was told: {value!r:.200}", "reading")
        if not _are_equal(end.decoded(kind, encoded), value):
            raise Defect(f"{kind_name(kind)} does not come back: {value!r:.200}", "a round trip")


def judge_refused(wanted: Due | None, line: bytes, words: str) -> None:
    """Raise Defect where a line was refused that is right.

    One with a name twice has two meanings, and may be refused; so may a deep one, since the stack has an end somewhere.
    """
    is_deep = line.count(b"[") + line.count(b"{") > _DEEP
    if wanted is not None and not is_deep and not _has_a_name_twice(line):
        raise Defect(f"{kind_name(wanted.kind)}: a right value was refused: {words:.300}", "refusing what is right")


def _has_a_name_twice(line: bytes) -> bool:
    twice: list[bool] = []
    json.loads(line, object_pairs_hook=lambda pairs: twice.append(len(dict(pairs)) < len(pairs)))
    return any(twice)


def is_refusal(answer: protocol.ErrorObject | None) -> bool:
    """True where an answer says that the line before it was not understood."""
    return answer is not None and answer.code in _REFUSED


def kind_name(kind: Any) -> str:
    """What a type is called in words for people."""
    return getattr(kind, "__name__", str(kind))


def _are_equal(first: Any, second: Any) -> bool:
    """Equal, where a NaN equals another one. A default may be a member of an enumeration, and come back as a number."""
    if first == second:
        return True
    if isinstance(first, msgspec.Struct) and type(first) is type(second):
        return all(map(_are_equal, msgspec.structs.astuple(first), msgspec.structs.astuple(second)))
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(map(_are_equal, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_are_equal(first[key], second[key]) for key in first)
    return isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second)


def _difference(read: Any, told: Any) -> str | None:
    """Where what was read, as JSON again, is not what was told; None where nothing is. Fields may be added."""
    if type(read) is dict:
        if type(told) is not dict:
            return ""
        pairs = [(f".{name}", read[name], told[name]) for name in read if name in told]
    elif type(read) is list:
        if type(told) is not list or len(read) != len(told):
            return ""
        pairs = [(f"[{index}]", *both) for index, both in enumerate(zip(read, told, strict=True))]
    else:
        return None if _is_same(read, told) else ""
    return next((f"{name}{where}" for name, *both in pairs if (where := _difference(*both)) is not None), None)


def _is_same(read: Any, told: Any) -> bool:
    if type(read) is float and type(told) in (int, float):
        return read == float(told) and math.copysign(1, read) == math.copysign(1, told)
    return type(read) is type(told) and (read == told or _same_bytes(read, told))


def _same_bytes(read: Any, told: Any) -> bool:
    """Base64 has bits that mean nothing: what was read may be spelled otherwise."""
    if type(read) is not str or len(read) != len(told):
        return False
    try:
        return msgspec.convert(read, bytes) == msgspec.convert(told, bytes)
    except msgspec.ValidationError:
        return False
