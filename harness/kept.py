"""What is worked out from the installed suites once, and kept until a file of them changes.

It is kept beside Python's byte code, and trusted as that is: who can write there can change the code, too. Where Python
keeps none (PYTHONDONTWRITEBYTECODE, usual in containers), or the installation is another user's, it is kept in the
user's cache. Where nothing can be written, it is worked out each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeVar

import msgspec

from npu_conformance.specs import user_cache

ROOT = Path(__file__).parents[1]
SUITE_FOLDERS = ("specs", "corpus", "harness", "vts", "cts", "fuzz", "mlts")
"""The folders on which the cases and their verdicts depend."""

_T = TypeVar("_T")


def kept(name: str, kind: type[_T], make: Callable[[], _T]) -> _T:
    """Return what was kept under a name; where it is missing, or older than a file of the suites, make and keep it."""
    found = find(name, kind)
    if found is None:
        found = make()
        keep(name, found)
    return found


def find(name: str, kind: type[_T]) -> _T | None:
    """Return what was kept under a name; None where it is missing, cannot be read, or is older than the suites."""
    place = folder()
    if place is None:
        return None
    try:
        stamp, _, data = (place / f"{name}.json").read_bytes().partition(b"\n")
        return msgspec.json.decode(data, type=kind) if stamp.decode() == _stamp() else None
    except (OSError, ValueError):  # msgspec's errors are ValueErrors; it is only a copy, and made again
        return None


def keep(name: str, value: object) -> None:
    """Keep a value under a name, in place of what was kept there."""
    place = folder()
    if place is None:
        return
    whole = place / f"{name}.json.{os.getpid()}"
    try:
        whole.write_bytes(_stamp().encode() + b"\n" + msgspec.json.encode(value))
        whole.replace(place / f"{name}.json")
    except OSError:  # a full disk, say: as with Python's byte code, nothing is kept
        with contextlib.suppress(OSError):
            whole.unlink(missing_ok=True)


def folder() -> Path | None:
    """Return the folder where things are kept, which is there; None where nothing can be kept."""
    return _beside_byte_code() or _in_the_users_cache()


def _beside_byte_code() -> Path | None:
    if sys.dont_write_bytecode:
        return None
    path = Path(cache_from_source(str(ROOT / "__init__.py"))).parent
    return path if _is_made(path, 0o777) and os.access(path, os.W_OK) else None


def _in_the_users_cache() -> Path | None:
    """The folder of this installation, if nobody else can write there: templates are kept as code."""
    try:
        path = user_cache.folder() / "kept" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    except RuntimeError:  # this user has no home
        return None
    if not _is_made(path, 0o700):
        return None
    status = path.stat()
    is_ours_alone = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return path if is_ours_alone and os.access(path, os.W_OK) else None


def _is_made(path: Path, mode: int) -> bool:
    try:
        path.mkdir(mode, parents=True, exist_ok=True)
    except OSError:  # a file in its place, or a folder that cannot be written
        return False
    return True


@cache
def _stamp() -> str:
    """Changes with every file of the suites: their names, sizes and times."""
    files = sorted(file for folder in SUITE_FOLDERS for file in _files(str(ROOT / folder)))
    with contextlib.suppress(OSError, RuntimeError):  # nobody has added models, which have cases of their own
        status = user_cache.added_models().stat()
        files.append(("added models", status.st_size, status.st_mtime_ns))
    return hashlib.sha256(repr((str(ROOT), files)).encode()).hexdigest()


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)
