"""How documents get to a disk, so that a kill costs no more than what was being written."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader never sees half of it. Where that fails (OSError), the old one stays."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def append_line(path: Path, line: bytes) -> None:
    """Append a line. What a kill has left of the one before stays a line of its own, which costs itself alone."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line + b"\n")
