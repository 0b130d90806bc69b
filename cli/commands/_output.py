"""What commands print for machines, and the files they write where the user says."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.cli.errors import UsageError


def print_json(answer: object) -> None:
    """Print structs, mappings and sequences of them as indented JSON."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(answer), indent=1).decode())


def write_text(path: Path, text: str) -> None:
    """Write a file. Raises UsageError where it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
