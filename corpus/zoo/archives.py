"""Takes one file out of a wheel, a .tgz or a .zip, also where archives are inside each other, and nothing else.

Nothing is unpacked to its own path, so that a path in an archive leads nowhere; sizes are known from the manifest.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO

_MOST = 64 << 20
"""The most bytes that an archive inside another may have."""
_BLOCK = 1 << 20


class ArchiveError(Exception):
    """An archive has not what is asked of it. The message says what, in one line."""


def take(archive: IO[bytes], path: Sequence[str], size: int) -> bytes:
    """The file at a path through nested archives. size: its bytes. Raises ArchiveError."""
    for inner in path[:-1]:
        archive = io.BytesIO(_member(archive, inner, _MOST))
    data = _member(archive, path[-1], size)
    if len(data) != size:
        raise ArchiveError(f"{path[-1]} has {len(data)} bytes, the manifest says {size}")
    return data


def _member(archive: IO[bytes], name: str, most: int) -> bytes:
    try:
        if zipfile.is_zipfile(archive):
            return _of_zip(archive, name, most)
        archive.seek(0)
        return _of_tar(archive, name, most)
    except (KeyError, IsADirectoryError):
        raise ArchiveError(f"there is no file {name} in it") from None
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveError(f"{name} cannot be read: {_first_line(error)}") from None
    except OSError as error:
        # A gzip stream that is none raises OSError, whose errno is None.
        if error.errno is not None:
            raise
        raise ArchiveError(f"{name} cannot be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """tarfile lists each compression that a file does not have."""
    return str(error).partition("\n")[0].rstrip(":") or type(error).__name__


def _of_zip(archive: IO[bytes], name: str, most: int) -> bytes:
    with zipfile.ZipFile(archive) as opened, opened.open(name) as member:
        return _bounded(member, name, most)


def _of_tar(archive: IO[bytes], name: str, most: int) -> bytes:
    """Read from the front: of two files of a name the first one counts."""
    with tarfile.open(fileobj=archive, mode="r:*") as opened:
        for found in opened:
            if found.name == name and found.isfile():
                member = opened.extractfile(found)
                if member is not None:
                    with member:
                        return _bounded(member, name, most)
    raise KeyError(name)


def _bounded(member: IO[bytes], name: str, most: int) -> bytes:
    """All of a file; raises ArchiveError as soon as it has more than so many bytes, whatever its header says."""
    blocks, count = [], 0
    while block := member.read(min(_BLOCK, most + 1 - count)):
        count += len(block)
        if count > most:
            raise ArchiveError(f"{name} has more than {most} bytes")
        blocks.append(block)
    return b"".join(blocks)
