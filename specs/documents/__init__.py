"""Strict documents: vectors, manifests, waivers, claims, results. Bad input gets one clear line."""

from __future__ import annotations

import io
import stat
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from npu_conformance.specs.decoders import decoder
from npu_conformance.specs.diagnostics.one_line import one_line

Kind = TypeVar("Kind")

LARGEST = 1 << 30
"""Bytes of a document: a run of everything writes 50 MB of events."""
_TOO_LARGE = f"it is larger than {LARGEST >> 20} MiB, which no document is"
_PART = 1 << 20


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of the strict structs: unknown fields are errors, types are exact."""


class DocumentError(Exception):
    """A document breaks a rule. Reads `document: path: rule`, in one line, whatever the document has in it."""

    def __init__(self, document: str, path: str, rule: str) -> None:
        self.document = document
        self.path = path
        self.rule = rule
        super().__init__(": ".join(map(one_line, filter(None, (document, path, rule)))))


def encode_line(document: Document) -> bytes:
    """Encode a document as a line of JSON, with its end."""
    return msgspec.json.encode(document) + b"\n"


def decode(data: bytes | str, kind: type[Kind], document: str) -> Kind:
    """Decode JSON as `kind`; raises DocumentError naming the document, the path and the rule of the first error."""
    try:
        return decoder(kind).decode(data)
    except msgspec.ValidationError as error:
        if whole := _stranger(data, kind):
            raise DocumentError(document, whole[1], whole[0]) from None
        rule, path = explained(error, kind)
        raise DocumentError(document, _with_keys(path, data, kind), rule) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DocumentError(document, "", f"not JSON: {error}") from None
    except RecursionError:
        raise DocumentError(document, "", "not JSON: nested too deeply") from None


def content(path: Path, *, named: bool = False) -> bytes:
    """The bytes of a file. What never ends is not read: it may be a stranger's. Raises DocumentError.

    named: the user has named this path itself, which may then be a pipe, as `<(command)` is.
    """
    try:
        room = readable(path, named=named)
        with path.open("rb") as file:
            data = at_most(file, room)
    except OSError as error:
        raise DocumentError(str(path), "", error.strerror or str(error)) from None
    if data is None:
        raise DocumentError(str(path), "", _TOO_LARGE)
    return data


def readable(path: Path, *, named: bool = False) -> int:
    """How many bytes of a file are to be read. DocumentError for what never ends or is too large. Raises OSError."""
    status = path.stat()
    if stat.S_ISREG(status.st_mode) and status.st_size > LARGEST:
        raise DocumentError(str(path), "", _TOO_LARGE)
    if not (named or stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise DocumentError(str(path), "", "expected a file, found a pipe, a socket or a device")
    return LARGEST


def at_most(file: io.BufferedIOBase, size: int) -> bytes | None:
    """What is left in a file; None where that is more. Not by one `read`, which makes room for the whole size first."""
    parts, left = [], size + 1
    while left and (part := file.read(min(_PART, left))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts) if left else None


def read(path: Path, kind: type[Kind], *, named: bool = False) -> Kind:
    """Read and decode a file; raises DocumentError also where it cannot be read. named: see content."""
    data = content(path, named=named)
    try:
        return decode(data, kind, str(path))
    except DocumentError as error:
        if error.path == "$" and error.rule.startswith("Expected `object`"):
            raise DocumentError(str(path), "", "expected a JSON object, which begins with {") from None
        raise


def _stranger(data: bytes | str, kind: Any) -> tuple[str, str] | None:
    from npu_conformance.specs.documents.strangers import stranger

    return stranger(data, kind)


def _with_keys(path: str, data: bytes | str, kind: type[Any]) -> str:
    from npu_conformance.specs.documents.keys import with_keys

    return with_keys(path, data, kind)


def explained(error: Exception, kind: Any) -> tuple[str, str]:
    """The rule that a value of this kind breaks, with what is allowed where msgspec does not say it, and its path."""
    from npu_conformance.specs.documents.allowed import with_allowed

    rule, path = split_path(str(error))
    return with_allowed(rule, path, kind), path


def split_path(message: str) -> tuple[str, str]:
    """Split msgspec's message into the rule and the JSON path (`$` where it names none)."""
    rule, separator, path = message.rpartition(" - at ")
    return (rule, path.strip("`")) if separator else (message, "$")
