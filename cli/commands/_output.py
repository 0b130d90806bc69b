"""What commands print for machines, and the files they write where the user says."""

from __future__ import annotations

import sys
from pathlib import Path

from npu_conformance.cli.errors import UsageError


def print_json(answer: object) -> None:
    """Print structs, mappings and sequences of them as indented JSON."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(answer), indent=1).decode())


STANDARD_OUTPUT = "-"


def write_text(path: Path, text: str) -> None:
    """Write a file, or to standard output where the path is `-`. Raises UsageError where it cannot be written."""
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
