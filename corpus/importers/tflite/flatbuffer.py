"""Reads tables of a flatbuffer that may be broken on purpose: nothing is copied before it is counted.

The tables' layout is that of LiteRT's own schema module. A flatbuffer may refer to one vector from many places, so that
a small file stands for a huge tree: all that is read counts, and no more than the file's own size is allowed.
"""

from __future__ import annotations

import functools
import importlib
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.corpus.importers.tflite.errors import TfliteError
from npu_conformance.specs.installing import pip_install

Array = npt.NDArray[Any]

INSTALL_HINT = f"reading .tflite needs LiteRT's schema, which is not installed: {pip_install('litert')}"
IDENTIFIER = b"TFL3"
_SLACK = 4096
"""What may be read beyond the size of the file: of small ones much is shared by right."""

_BROKEN = (struct.error, TypeError, ValueError, IndexError, OverflowError)
"""What the flatbuffers library raises for an offset that leads nowhere."""


@functools.cache
def _schema() -> Any:
    return importlib.import_module("ai_edge_litert.schema_py_generated")


def schema(document: str) -> Any:
    """LiteRT's schema module. Raises TfliteError where it is not installed."""
    try:
        importlib.import_module("flatbuffers")
        return _schema()
    except ImportError:
        raise TfliteError(document, "", INSTALL_HINT) from None


@functools.cache
def member_names(kind: str) -> dict[int, str]:
    """The names of an enumeration of the schema, by their numbers."""
    return {number: name for name, number in vars(getattr(_schema(), kind)).items() if isinstance(number, int)}


class Source:
    """The bytes of a file, and how much of them may still be read."""

    def __init__(self, data: bytes, document: str) -> None:
        self.data, self.document = data, document
        self._left = len(data) + _SLACK

    def take(self, count: int, path: str) -> None:
        """Account for `count` elements that are about to be read. Raises TfliteError for more than a file can have."""
        self._left -= count
        if self._left < 0:
            raise TfliteError(self.document, path, "the file refers to more elements than it can hold")


class Table:
    """One table: its fields by their names in the schema. path: where it is, for messages."""

    def __init__(self, raw: Any, path: str, source: Source) -> None:
        self._raw, self.path, self.source = raw, path, source

    def error(self, rule: str, field: str = "") -> TfliteError:
        """An error of a field of this table."""
        return TfliteError(self.source.document, f"{self.path}.{field}" if field else self.path, rule)

    def value(self, field: str) -> Any:
        """A scalar field, or its default."""
        return self._call(field)

    def text(self, field: str) -> str:
        """A string, or an empty one. What is not UTF-8 is replaced."""
        raw = self._call(field)
        self.source.take(len(raw or b""), f"{self.path}.{field}")
        return (raw or b"").decode(errors="replace")

    def array(self, field: str) -> Array:
        """A vector of numbers as a view into the file; an empty one where there is none."""
        return self._call(f"{field}AsNumpy") if self._length(field) else np.empty(0, np.uint8)

    def numbers(self, field: str) -> list[Any]:
        """A short vector as a list."""
        self.source.take(self._length(field), f"{self.path}.{field}")
        numbers: list[Any] = self.array(field).tolist()
        return numbers

    def tables(self, field: str, name: str) -> list[Table]:
        """A vector of tables. name: of the field, in paths."""
        length = self._length(field)
        self.source.take(length, f"{self.path}.{field}")
        place = f"{self.path}.{name}" if self.path else name
        return [Table(self._call(field, number), f"{place}[{number}]", self.source) for number in range(length)]

    def table(self, field: str) -> Table | None:
        """A table within this one, or None."""
        raw = self._call(field)
        return None if raw is None else Table(raw, f"{self.path}.{field}", self.source)

    def union(self, field: str) -> Table | None:
        """A table of the type that the field's companion names; None where there is none, or of no known type."""
        kind, raw = member_names(field).get(self._call(f"{field}Type"), "NONE"), self._call(field)
        if raw is None or kind == "NONE":
            return None
        table = getattr(_schema(), kind)()
        try:
            table.Init(raw.Bytes, raw.Pos)
        except _BROKEN:
            raise self.error("an offset leads out of the file", field) from None
        return Table(table, f"{self.path}.{kind}", self.source)

    def has(self, field: str) -> bool:
        """True for a field that tables of this type have."""
        return hasattr(self._raw, field)

    def _length(self, field: str) -> int:
        return int(self._call(f"{field}Length"))

    def _call(self, field: str, *arguments: int) -> Any:
        try:
            return getattr(self._raw, field)(*arguments)
        except _BROKEN:
            raise self.error("an offset leads out of the file", field) from None


def root(data: bytes, document: str) -> Table:
    """The root table. Raises TfliteError for what is no .tflite file."""
    model = schema(document).Model
    if data[4:8] != IDENTIFIER:
        raise TfliteError(document, "", f"no .tflite file: expected the identifier {IDENTIFIER.decode()} at byte 4")
    source = Source(data, document)
    try:
        return Table(model.GetRootAs(data, 0), "", source)
    except _BROKEN:
        raise TfliteError(document, "", "the offset of the root table leads out of the file") from None
