"""Documents that are none of the kind that is read: of another format, or of another kind altogether."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec.structs import fields

_FEWEST = 3
"""So many fields have to be missing, all that a kind requires, before a document is of another kind."""
_NAMED = 3
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def stranger(data: bytes | str, kind: Any) -> tuple[str, str] | None:
    """The rule that a document breaks as a whole, and its path; None where only a part of it may be wrong."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return _of_another_format(value, kind) or _of_another_kind(value, kind)


def _of_another_format(value: dict[str, Any], kind: Any) -> tuple[str, str] | None:
    given = value.get("format")
    for one in _structs(kind):
        known = next((get_args(field.type) for field in fields(one) if field.encode_name == "format"), ())
        if known and type(given) is int and given not in known:
            version = value.get("suite_version")
            by = f" by version {version} of the suite" if isinstance(version, str) else ""
            return f"written{by} in format {given}; this version reads format {known[0]}", "$.format"
    return None


def _of_another_kind(value: dict[str, Any], kind: Any) -> tuple[str, str] | None:
    known = [field for one in _structs(kind) for field in fields(one)]
    if kind not in _structs(kind) or not any(field.encode_name == "format" for field in known):
        return None  # a part of a document
    required = {field.encode_name: None for field in known if field.required and field.encode_name != "format"}
    lacking = [name for name in required if name not in value]
    if len(lacking) < max(_FEWEST, len(required)):
        return None
    words = _WORD.sub(" ", kind.__name__).lower()
    what = words if words.endswith("file") else f"{words} document"
    return f"is no {what}: it has none of {', '.join(lacking[:_NAMED])}", ""


def _structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The kind, or each of a union."""
    for one in get_args(kind) or (kind,):
        if isinstance(one, type) and issubclass(one, msgspec.Struct):
            yield one
