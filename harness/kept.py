"""What is worked out from the installed suites once, and kept beside Python's byte code until a file of them changes.

It is trusted as byte code is: who can write there can change the code, too. Where nothing can be written, it is worked
out each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeVar

import msgspec

ROOT = Path(__file__).parents[1]
SUITE_FOLDERS = ("specs", "corpus", "harness", "vts", "cts", "fuzz", "mlts")
"""The folders on which the cases and their verdicts depend."""

_T = TypeVar("_T")


def kept(name: str, kind: type[_T], make: Callable[[], _T]) -> _T:
    """Return what was kept under a name; where it is missing, or older than a file of the suites, make and keep it."""
    found = find(name, kind)
    if found is None:
        found = make()
        _keep(name, found)
    return found


def find(name: str, kind: type[_T]) -> _T | None:
    """Return what was kept under a name; None where it is missing, cannot be read, or is older than the suites."""
    try:
        stamp, _, data = _path(name).read_bytes().partition(b"\n")
        return msgspec.json.decode(data, type=kind) if stamp.decode() == _stamp() else None
    except (OSError, ValueError):  # msgspec's errors are ValueErrors; it is only a copy, and made again
        return None


def _keep(name: str, value: object) -> None:
    if sys.dont_write_bytecode:
        return
    path = _path(name)
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(_stamp().encode() + b"\n" + msgspec.json.encode(value))
        whole.replace(path)
    except OSError:  # a folder that cannot be written, or a full disk: as with Python's byte code, nothing is kept
        with contextlib.suppress(OSError):
            whole.unlink(missing_ok=True)


def folder() -> Path | None:
    """Return the folder of the byte code; None where nothing may be kept there."""
    path = _path("any").parent
    is_usable = path.is_dir() and os.access(path, os.W_OK) and not sys.dont_write_bytecode
    return path if is_usable else None


def _path(name: str) -> Path:
    return Path(cache_from_source(str(ROOT / "__init__.py"))).with_name(f"{name}.json")


@cache
def _stamp() -> str:
    """Changes with every file of the suites: their names, sizes and times."""
    files = sorted(file for folder in SUITE_FOLDERS for file in _files(str(ROOT / folder)))
    return hashlib.sha256(repr((str(ROOT), files)).encode()).hexdigest()


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
            elif entry.name != "__pycache__":
                yield from _files(entry.path)
