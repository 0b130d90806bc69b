"""Words of a command line that stand for the lines of a file of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from npu_conformance.cli.errors import UsageError
from npu_conformance.specs import documents

_FILE = "@"
"""Begins such a word."""
_COMMENT = "#"
_ENCODING = "utf-8-sig"
"""UTF-8, with or without the mark that editors of Windows begin a file with."""


def expanded(words: Sequence[str]) -> Iterator[str]:
    """The words, with the lines of a file in place of `@FILE`. UsageError for one that cannot be read, or is empty."""
    for word in words:
        if word.startswith(_FILE):
            yield from _lines(Path(word.removeprefix(_FILE)))
        else:
            yield word


def _lines(path: Path) -> list[str]:
    """The lines of a file of ids, without those that are empty or comments. A file without any must be a mistake."""
    try:
        lines = map(str.strip, documents.content(path, named=True).decode(_ENCODING).splitlines())
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not a text of ids, one in each line") from None
    found = [line for line in lines if line and not line.startswith(_COMMENT)]
    if not found:
        raise UsageError(f"{path}: names nothing; expected ids or globs, one in each line")
    return found
