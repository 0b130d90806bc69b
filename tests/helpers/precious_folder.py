"""What became of the files that the fixture `precious` makes."""

from __future__ import annotations

from pathlib import Path


def is_whole(precious: Path) -> bool:
    """True where nothing came and nothing went."""
    found = sorted(str(path.relative_to(precious)) for path in precious.rglob("*"))
    return found == ["1", "inner", "inner/2"] and (precious / "inner/2").read_bytes() == b"precious"
