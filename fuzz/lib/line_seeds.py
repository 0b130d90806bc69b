"""Lines of each method in both directions: the call as the one end reads it, and the answer as the other does.

An input is two lines: which end reads (`harness` or `host`), with the method whose answer it awaits, or with none; then
what it reads.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import msgspec

from npu_conformance.fuzz.lib import line_samples
from npu_conformance.fuzz.lib.line_ends import MANIFEST, TOKEN
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import bound_methods
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.plugin import INTERFACES

HARNESS, HOST = "harness", "host"
ERRORS = tuple(
    msgspec.json.encode(error)
    for error in (
        protocol.ErrorObject(protocol.SERVICE_ERROR, "status 4", protocol.ErrorData(4)),
        protocol.ErrorObject(protocol.ILLEGAL_STATE, "not yet"),
        protocol.ErrorObject(protocol.UNSUPPORTED, "is not implemented"),
        protocol.ErrorObject(protocol.MEMORY_UNREACHABLE, "elsewhere"),
        protocol.ErrorObject(protocol.INTERNAL_ERROR, "ValueError: five", protocol.ErrorData(traceback="Traceback")),
    )
)
"""What any request may be answered with."""
_FILE: dict[str, dict[str, Any]] = {
    "file.size": {},
    "file.read": {"offset": 2, "length": 8},
    "file.write": {"offset": 2, "data": "AAEC/w=="},
    "file.truncate": {"size": 9},
    "file.duplicate": {},
    "file.close": {},
}
_OWN: dict[str, dict[str, Any]] = {
    "ping": {},
    "object.release": {"object": 3, "count": 1},
    "fence.state": {"object": -6, "state": 2},
    "memory.attach": {"token": TOKEN, "size": 8, "transport": "message"},
    "memory.write": {"token": TOKEN, "offset": 2, "data": "AAEC/w=="},
    "memory.read": {"token": TOKEN, "offset": 0, "length": 8},
    "memory.detach": {"token": TOKEN},
    "file.attach": {"token": TOKEN, "transport": "message", "access": "read_write"},
    "file.detach": {"token": TOKEN},
}


def seeds() -> list[bytes]:
    """What the search starts from: each is read."""
    return list(dict.fromkeys([*_calls(), *_answers(), *_errors(), *_protocol()]))


def made(end: str, method: str, line: bytes) -> bytes:
    """An input."""
    return f"{end} {method}".strip().encode() + b"\n" + line


def _calls() -> Iterator[bytes]:
    for kind in line_samples.interfaces():
        for end, sign in _ends_of(kind):
            for method in bound_methods(kind).values():
                params = {**line_samples.sample(method.params, -sign), "object": sign * line_samples.number_of(kind)}
                yield made(end, "", _call(method.wire_name, params, None if method.oneway else 5))


def _answers() -> Iterator[bytes]:
    """An answer of each type that an end awaits: nothing else of a method matters when its answer is read."""
    seen: set[tuple[str, str]] = set()
    for kind in line_samples.interfaces():
        for end, sign in _ends_of(kind):
            reader = HOST if end == HARNESS else HARNESS
            for method in bound_methods(kind).values():
                if not method.oneway and (reader, repr(method.result)) not in seen:
                    seen.add((reader, repr(method.result)))
                    yield made(reader, method.wire_name, _answer(line_samples.sample(method.result, sign)))


def _errors() -> Iterator[bytes]:
    for error in ERRORS:
        yield made(HARNESS, "device.getType", b'{"jsonrpc":"2.0","id":1,"error":%s}' % error)


def _protocol() -> Iterator[bytes]:
    answer = protocol.Initialized(1, MANIFEST, {"device": 1}, ("path", "message"), True)
    yield made(HARNESS, "initialize", _answer(answer))
    yield made(HARNESS, "ping", _answer(None))
    yield made(HARNESS, "memory.read", _answer("AAEC/w=="))
    yield made(HARNESS, "control.ticket", _answer(protocol.Ticket("a0", "unix:/a")))
    yield made(HARNESS, "", _call("object.release", {"object": -3, "count": 1}, None))
    for name, params in _FILE.items():
        yield made(HARNESS, "", _call(name, {"token": TOKEN, **params}, 5))
    for name, params in _OWN.items():
        yield made(HOST, "", _call(name, params, 5))


def _ends_of(kind: type) -> list[tuple[str, int]]:
    """Which ends have objects of an interface, and the sign of their numbers."""
    host, harness = _owners()
    return [*([(HOST, 1)] if kind in host else []), *([(HARNESS, -1)] if kind in harness else [])]


@functools.cache
def _owners() -> tuple[set[type], set[type]]:
    """The interfaces whose objects a host has, as its roots or as results; and those that it is given."""
    methods = [method for kind in line_samples.interfaces() for method in describe(kind).values()]
    returned = {one for method in methods for one in line_samples.results(method)}
    return returned | {*INTERFACES.values()}, {one for method in methods for one in line_samples.parameters(method)}


def _call(method: str, params: object, number: int | None) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _answer(result: object) -> bytes:
    return msgspec.json.encode(protocol.Answer(1, result))
