"""The names that msgspec leaves out of a path: `$.operands[...].value` says not which operand."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from npu_conformance.specs.decoders import decoder

_ANY = "[...]"
_MOST_KEYS, _MOST_BYTES = 200, 1 << 20
"""Beyond, no key is looked for: each costs a reading of the document."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


def with_keys(path: str, data: bytes | str, kind: type[Any]) -> str:
    """The path of the first mistake in JSON of this kind, with the key in place of each `[...]` that can be found."""
    if _ANY not in path or len(data) > _MOST_BYTES:
        return path
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # after the mistake there is another one
        return path
    while _ANY in path:
        before, _, behind = path.partition(_ANY)
        owner = _at(document, before)
        key = _wrong_key(document, owner, before, kind) if isinstance(owner, dict) else None
        if key is None or not key.isidentifier():
            return path
        path = f"{before}.{key}{behind}"
    return path


def _at(document: Any, path: str) -> Any:
    for step in _STEP.finditer(path):
        document = document[step[1]] if step[1] else document[int(step[2])]
    return document


def _wrong_key(document: Any, owner: dict[str, Any], before: str, kind: type[Any]) -> str | None:
    """The key whose value alone gives a mistake at this place: what stands before it in the document is right."""
    values = dict(owner)
    if len(values) > _MOST_KEYS:
        return None
    try:
        for key, value in values.items():
            owner.clear()
            owner[key] = value
            if f"{before}{_ANY}" in _mistake(document, kind):
                return key
    finally:
        owner.clear()
        owner.update(values)
    return None


def _mistake(document: Any, kind: type[Any]) -> str:
    try:
        decoder(kind).decode(msgspec.json.encode(document))
    except msgspec.ValidationError as error:
        return str(error)
    return ""
