"""What the words of `list` and `run` select, and what is said of words that select nothing."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.cli.errors import UsageError
from npu_conformance.cli.streams import tell
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.selection import Wanted, idle_words, misspelt, select_ids
from npu_conformance.specs.diagnostics.counted import counted

_FILE = "@"
"""Begins a word that stands for the lines of a file."""
_COMMENT = "#"


def wanted_by(options: argparse.Namespace) -> Wanted:
    """What a command line asks for. UsageError for a file of ids that cannot be read, or that names none."""
    targets = tuple(_expanded(options.targets))
    return Wanted(targets, options.expression, Scope(options.scope), tuple(options.vectors))


def _expanded(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word.startswith(_FILE):
            yield from _lines(Path(word.removeprefix(_FILE)))
        else:
            yield word


def _lines(path: Path) -> list[str]:
    """The lines of a file of ids, without those that are empty or comments. A file without any must be a mistake."""
    try:
        lines = map(str.strip, path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not a text of ids, one in each line") from None
    found = [line for line in lines if line and not line.startswith(_COMMENT)]
    if not found:
        raise UsageError(f"{path}: names no case; expected ids or globs, one in each line")
    return found


def require_selected(names: Collection[str], wanted: Wanted) -> None:
    """Name the words of -k that no case has, on standard error; raise UsageError where nothing is selected."""
    for line in idle_words(wanted.expression, names):
        tell(line)
    if not names:
        raise UsageError(_nothing_selected(wanted))


def _nothing_selected(wanted: Wanted) -> str:
    """Say that there is no case, and where some are: in a larger scope, or in the list."""
    for scope in (Scope.DEFAULT, Scope.FULL):
        if count := len(select_ids(replace(wanted, scope=scope))):
            selects = f"--scope {scope.value} selects {counted(count, 'case')}"
            return f"nothing is selected in scope {wanted.scope.value}: {selects}"
    asked = f" by -k {wanted.expression!r}{misspelt(wanted.expression)}" if wanted.expression else ""
    return f"nothing is selected{asked}: see `npu-conformance list`"
