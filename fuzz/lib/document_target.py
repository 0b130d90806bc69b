"""The target whose inputs are documents: a line naming a reader, then the document, in base64 where it is binary.

A reader returns, or raises DocumentError with one line that somebody can read. All else is a mistake of this suite.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from npu_conformance.fuzz.lib import document_edits
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.document_limits import Growth, bounded, measured, place
from npu_conformance.fuzz.lib.document_readers import READERS, Reader
from npu_conformance.fuzz.lib.findings import Defect
from npu_conformance.fuzz.lib.memory_folder import memory_folder
from npu_conformance.specs.documents import DocumentError

Limited = Callable[[Callable[[], None]], None]
LONGEST = 2000
"""Characters of one line for people."""
_QUOTED = re.compile(r"['\"`\[]")
_NUMBER = re.compile(r"\b0x[0-9a-f]+|\d+")
_SHOWN, _BEGINNING = 80, 24


class DocumentTarget:
    """Inputs are documents for readers. See Target."""

    name = "documents"

    def __init__(self, readers: Sequence[Reader] = READERS) -> None:
        self._readers = {reader.name: reader for reader in readers}
        self.seeds: Sequence[bytes] = [_input(reader, document) for reader in readers for document in reader.seeds()]
        self._growth = Growth()
        self._grammars = {reader.name: document_edits.grammar(reader.seeds()) for reader in readers}

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Change the document as JSON, as text or as words of bytes, or give it to another reader."""
        found = self._decoded(data)
        if found is None:
            return data
        reader, document = found
        if choices.below(64) == 63:
            reader = choices.pick(list(self._readers.values()))
        elif reader.is_binary:
            document = document_edits.words_changed(document, choices)
        else:
            document = document_edits.mutated(document, choices, self._grammars[reader.name], self.seeds)
        made = _input(reader, document)
        return made if len(made) <= max_size else data

    def run(self, data: bytes) -> tuple[str, ...]:
        """Let the reader read, and look at all that it says. Raises Defect."""
        found = self._decoded(data)
        if found is None:
            return ()
        try:
            seen = self._read(*found, bounded)
        finally:
            is_large = self._growth.is_large()
        if not is_large:
            return seen
        try:
            return self._read(*found, measured)
        finally:
            self._growth.begin_anew()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Without a part of the document; then with a plainer one."""
        found = self._decoded(data)
        if found is None:
            return
        reader, document = found
        for piece in document_edits.smaller(document):
            yield _input(reader, piece)

    def readable(self, data: bytes) -> bytes:
        """The input as it is: text already."""
        return data

    def forget(self) -> None:
        """There is no subject."""

    def _read(self, reader: Reader, document: bytes, limited: Limited) -> tuple[str, ...]:
        """Let the reader read in a folder of its own; returns what that shows. limited: holds it to limits."""
        with memory_folder() as folder:
            path = reader.place(document, Path(folder))
            if path is None:
                return (f"{reader.name}: no document",)
            return tuple(_seen(reader, path, folder, limited))

    def _decoded(self, data: bytes) -> tuple[Reader, bytes] | None:
        name, _, document = data.partition(b"\n")
        reader = self._readers.get(name.decode(errors="replace"))
        if reader is None:
            return None
        try:
            return reader, base64.b64decode(document, validate=True) if reader.is_binary else document
        except binascii.Error:
            return None


def _input(reader: Reader, document: bytes) -> bytes:
    return reader.name.encode() + b"\n" + (base64.b64encode(document) if reader.is_binary else document)


def _seen(reader: Reader, path: Path, folder: str, limited: Limited) -> list[str]:
    """What one document shows: how it is refused, or what is said of it."""
    lines: list[str] = []
    try:
        limited(lambda: lines.extend(reader.read(path) or ()))
    except DocumentError as error:
        where = place(error)
        _judge(str(error).replace(folder, ""), where)
        return [f"{reader.name}: {where}: {_general(error.rule.replace(folder, ''))}"]
    except Defect:
        raise
    except Exception as error:
        where = f"{type(error).__name__} in {place(error)}"
        raise Defect(f"{reader.name}: {where}: {str(error)[:LONGEST].replace(folder, '')}", where) from error
    told = [line.replace(folder, "") for line in lines]
    for line in told:
        _judge(line, f"a line of {reader.name}")
    return [
        f"{reader.name}: read",
        *(f"{reader.name}: says {_first_word(line)}" for line in told[:_SHOWN]),
    ]


def _judge(message: str, where: str) -> None:
    """Raise Defect for what is no line that a terminal may show, or one that nobody reads."""
    if not message.isprintable():
        raise Defect(f"{where}: no printable line: {message[:LONGEST]!r}", f"message of {where}")
    if len(message) > LONGEST:
        raise Defect(f"{where}: a message of {len(message):,} characters: {message[:_SHOWN]}...", f"length of {where}")


def _general(text: str) -> str:
    """The beginning of a message, up to what is particular to one document."""
    return _NUMBER.sub("_", _QUOTED.split(text, maxsplit=1)[0])[:_SHOWN]


def _first_word(line: str) -> str:
    """What a line begins with: the rest of it is the document's."""
    return _general(line).strip().partition(" ")[0][:_BEGINNING]
