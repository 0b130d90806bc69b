"""What commands print for machines, and the files they write where the user says."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from npu_conformance.cli.errors import UsageError


def print_json(answer: object) -> None:
    """Print structs, mappings and sequences of them as indented JSON."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(answer), indent=1).decode())


STANDARD_OUTPUT = "-"


@contextlib.contextmanager
def reserved(path: Path | None) -> Iterator[None]:
    """Make a file before the work for it begins, and take it away again where nothing comes of that.

    Raises UsageError where it cannot be written: the work would be in vain.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        yield
        return
    is_new = not path.exists()
    try:
        path.touch()
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        if is_new and path.exists() and not path.stat().st_size:
            path.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a file, or to standard output where the path is `-`. Raises UsageError where it cannot be written."""
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
