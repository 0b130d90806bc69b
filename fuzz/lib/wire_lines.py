"""Seeds and mutations of what a client may send: lines of JSON-RPC, broken in every way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from npu_conformance.fuzz.lib import model_mutator
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.json_edits import Grammar, bytes_edit, edited
from npu_conformance.specs.versions import Version

HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"client":"fuzz"}}'
_LARGEST_MODEL = 700

_GRAMMAR = Grammar(
    templates={"id": (None, 0, 1, -1, 7, 2**63, "seven", 1.5, []), "object": (0, 1, 2, -1, 2**40)},
    encoded=frozenset({"data", "operandValues"}),
    wild=True,
)
_MOST_LINES = 40
_DEPTHS = (2, 100, 2000, 20000)
_GREEDY = range(1 << 24, 1 << 45)
"""Sizes of memory that would only cost time and memory of the machine."""


def _call(number: int | None, method: str, **params: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def seeds(version: Version) -> list[bytes]:
    """Short conversations: handshake, queries, a model, memory and files by message, notifications, stray answers."""
    models = [msgspec.Raw(data) for data in model_mutator.seeds(version, one_each=True) if len(data) < _LARGEST_MODEL]
    memory = [
        _call(4, "memory.attach", token=3, size=8, transport="message"),
        _call(5, "memory.write", token=3, offset=2, data="AAEC/w=="),
        _call(6, "memory.read", token=3, offset=0, length=8),
        _call(None, "memory.detach", token=3),
    ]
    prepare = {"preference": 1, "priority": 1, "deadlineNs": -1, "modelCache": [], "dataCache": []}
    queries = ("getCapabilities", "getVersionString", "getType", "getSupportedExtensions", "explode", "__init__")
    token = "A" * 43 + "="
    handles = [{"descriptors": [3]}, {"descriptors": []}]
    cache = {"deadlineNs": -1, "modelCache": handles[:1] * 2, "dataCache": handles, "token": token, "callback": -1}
    files = [
        _call(4, "file.attach", token=3, transport="message", access="read_write", offset=2),
        _call(5, "device.prepareModelFromCache", object=1, **cache),
        _call(None, "file.detach", token=3),
    ]
    conversations = [
        [_call(number, f"device.{name}", object=1) for number, name in enumerate(queries, 2)],
        [_call(7, "ping"), _call(8, "control.ticket", uid=10001), _call(None, "object.release", object=1, count=1)],
        memory,
        files,
        [b"", b"nonsense", b"[]", b'{"jsonrpc":"2.0","id":9,"result":1}', b'{"jsonrpc":"2.0","id":9}'],
    ]
    for model in models[:8]:
        supported = _call(2, "device.getSupportedOperations", object=1, model=model)
        arguments = {**prepare, "token": token, "callback": -1, "model": model}
        conversations.append([supported, _call(3, "device.prepareModel", object=1, **arguments)])
    return [b"\n".join([HELLO, *lines]) for lines in conversations]


def mutate(data: bytes, choices: Choices, others: Sequence[bytes], max_size: int) -> bytes:
    """Changed lines: one line edited as JSON or as bytes, or lines dropped, doubled, swapped, nested, borrowed."""
    lines = data.split(b"\n")
    position = choices.below(len(lines))
    kind = choices.below(8)
    if kind <= 2:
        lines[position] = edited(lines[position], choices, _GRAMMAR)
    elif kind == 3:
        lines[position] = bytes_edit(bytearray(lines[position]), choices)
    elif kind == 4:
        del lines[position]
    elif kind == 5 and len(lines) < _MOST_LINES:
        lines.insert(position, choices.pick(lines))
    elif kind == 6:
        lines[position] = _nested(lines[position], choices.pick(_DEPTHS), choices)
    elif others:
        lines[position:position] = [choices.pick(choices.pick(others).split(b"\n"))]
    return b"\n".join(lines)[:max_size]


def is_greedy(line: bytes) -> bool:
    """True for a request of so much memory that the fuzzer would measure the machine instead of the code."""
    if b'"size"' not in line:
        return False
    try:
        request = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    params = request.get("params") if isinstance(request, dict) else None
    size = params.get("size") if isinstance(params, dict) else None
    return isinstance(size, int | float) and _GREEDY.start <= size < _GREEDY.stop


def _nested(line: bytes, depth: int, choices: Choices) -> bytes:
    opening, closing = choices.pick(((b"[", b"]"), (b'{"params":', b"}")))
    inside = opening * depth + (closing * depth if choices.below(2) else b"")
    place = line.find(b'"params":')
    return line[: place + 9] + inside + b"}" if place >= 0 and choices.below(2) else inside
