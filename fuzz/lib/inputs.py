"""How inputs are kept: as lines of text in JSON documents, whatever bytes they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec

from npu_conformance.specs.documents import Document

Part = TypeVar("Part")
UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding JSON of a type raises for bytes that are none: no UTF-8, numbers beyond any type, deep nesting."""


class Lines(Document, frozen=True):
    """An input as lines. encoding: utf-8 where it is that, else latin-1, which any bytes are."""

    lines: tuple[str, ...]
    encoding: Literal["utf-8", "latin-1"] = "utf-8"

    @property
    def data(self) -> bytes:
        """The bytes."""
        return "\n".join(self.lines).encode(self.encoding)


def indented(data: bytes) -> bytes:
    """JSON as a person reads it; other bytes as they are."""
    try:
        return msgspec.json.format(data, indent=1)
    except UNREADABLE:
        return data


def digest(data: bytes) -> str:
    """The name of an input."""
    return hashlib.sha256(data).hexdigest()[:20]


def fitting(parts: Sequence[Part], encode: Callable[[Sequence[Part]], bytes], max_size: int) -> bytes:
    """The input of these parts in at most max_size bytes: those at the end are left out, so that it stays readable."""
    data = encode(parts)
    while len(data) > max_size and parts:
        parts = parts[:-1]
        data = encode(parts)
    return data[:max_size]


def lines_of(data: bytes) -> Lines:
    """An input as lines."""
    try:
        return Lines(lines=tuple(data.decode().split("\n")))
    except UnicodeDecodeError:
        return Lines(lines=tuple(data.decode("latin-1").split("\n")), encoding="latin-1")
