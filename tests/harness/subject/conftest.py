"""Folders that others can write into, and files there that are nobody's to touch."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def base() -> Iterator[Path]:
    """Stands for /dev/shm. Its name is short: those of sockets have room for a hundred characters."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder with files that nobody may touch, of names that the suite has for its own."""
    path = tmp_path / "precious"
    (path / "inner").mkdir(parents=True)
    for name in ("1", "inner/2"):
        (path / name).write_bytes(b"precious")
    return path
