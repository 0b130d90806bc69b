"""Files of shared memory, and their quick reuse from pool to pool.

A plug-in has every right on them, so nothing that it does there may end this process. A look at a mapped page that the
file has lost is SIGBUS: what has a name, and can be truncated, is therefore read and written by system calls, and what
is mapped has a size that is sealed. Space is taken when a file is handed out: a full file system shows there, and
not in a driver that stores its results.
"""

from __future__ import annotations

import errno
import mmap
import os

from npu_conformance.harness.judge.verdicts import Failed, NoSharedMemory
from npu_conformance.harness.subject import private_files
from npu_conformance.harness.subject.private_directory import PrivateDirectory
from npu_conformance.harness.wire import margin
from npu_conformance.harness.wire.margin import PAGE, with_margin
from npu_conformance.harness.wire.sealed import sealed_file
from npu_conformance.specs.descriptor_file import write_at

_MOST_KEPT = 256 << 20
_BLOCK = 512
"""Bytes of what stat calls a block."""
_ZEROS = bytes(1 << 16)


class SharedFile:
    """An open file. path: its name, or None for one that only its descriptor names. size: in bytes, with a margin."""

    def __init__(self, path: str | None, size: int) -> None:
        """Raises OSError."""
        self.path = path
        self.size = size
        self._used = self._pool_size = 0
        self.map: mmap.mmap | None = None
        self.descriptor = sealed_file(size) if path is None else private_files.create(path)
        self._made = os.fstat(self.descriptor)
        try:
            if path is None:
                self.map = mmap.mmap(self.descriptor, size)
            else:
                os.ftruncate(self.descriptor, size)
        except BaseException:
            self.remove()
            raise

    def prepare(self, size: int) -> None:
        """Take space for the first bytes, and fill them with zeros: nothing of an earlier pool is left.

        Raises OSError where there is no space.
        """
        needed = -(-size // PAGE) * PAGE
        if self._used:
            self.take_overrun(self._pool_size)
        self._pool_size = size
        for start in range(0, self._used, len(_ZEROS)):
            zeros = _ZEROS[: self._used - start]
            if self.map is None:
                self.write(start, zeros)
            else:
                self.map[start : start + len(zeros)] = zeros
        if needed > self._used:
            os.posix_fallocate(self.descriptor, 0, needed)
        self._used = max(self._used, needed)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes. Raises Failed where the file ends before them."""
        data = os.pread(self.descriptor, length, offset)
        while len(data) < length:
            # A read stops at 2 GiB, and at the end of the file.
            more = os.pread(self.descriptor, length - len(data), offset + len(data))
            if not more:
                missing = f"it has no bytes {offset + len(data)} to {offset + length}"
                raise Failed(f"memory: the implementation has truncated the file of a pool: {missing}")
            data += more
        return data

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes. Raises OSError."""
        write_at(self.descriptor, offset, data)

    def take_overrun(self, size: int) -> bool:
        """See margin.take_overrun."""
        return margin.take_overrun(self.descriptor, size)

    def remove(self) -> None:
        """Delete the file. A mapping that is still in use keeps its bytes."""
        if self.path is not None:
            private_files.remove_file(self.path, self._made)
        os.close(self.descriptor)
        self.descriptor = -1

    def is_whole(self) -> bool:
        """True where another pool can have it: a plug-in may have removed, replaced, truncated or locked it."""
        if self.path is None:
            return True
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        made = self._made
        is_same = os.path.samestat(found, made) and (found.st_mode, found.st_uid) == (made.st_mode, made.st_uid)
        return is_same and found.st_size == self.size and found.st_blocks * _BLOCK >= self._used


class FileStore:
    """Files of shared memory in a private directory, kept for reuse by size class."""

    def __init__(self, folder: str | None = None, *, base: str | None = None) -> None:
        """folder: another process's private directory, to put files there and leave it behind; None to make one.

        base: where to make it. Raises NoSharedMemory.
        """
        self._own = PrivateDirectory(base) if folder is None else None
        self.directory = folder or self._own.path  # type: ignore[union-attr]
        self._prefix = "" if self._own else f"guest-{os.urandom(6).hex()}-"
        self._free: dict[tuple[bool, int], list[SharedFile]] = {}
        self._kept = 0
        self._serial = 0

    def take(self, size: int, *, named: bool) -> SharedFile:
        """Return a file of at least `size` bytes, which are zero; named: it has a path.

        Raises NoSharedMemory where there is no space for them, also after what is kept has been given up.
        """
        if named:
            self.place()
        try:
            return self._taken(size, named=named)
        except OSError as error:
            if not self._kept:
                raise shortage(size, error, os.path.dirname(self.directory)) from None
        self._drop_kept()
        try:
            return self._taken(size, named=named)
        except OSError as error:
            raise shortage(size, error, os.path.dirname(self.directory)) from None

    def give_back(self, file: SharedFile) -> None:
        """Keep a file for the next pool of its size, or remove it where enough is kept."""
        if self._kept + file.size > _MOST_KEPT or not file.is_whole():
            file.remove()
            return
        self._kept += file.size
        self._free.setdefault((file.path is not None, file.size), []).append(file)

    def place(self) -> str:
        """The directory's path, once more leading to a private directory where a plug-in has removed or replaced it."""
        if self._own is not None and self._own.place():
            self._drop_kept()
        return self.directory

    def close(self) -> None:
        """Remove everything."""
        self._drop_kept()
        if self._own is None:
            private_files.remove_files(self.directory, self._prefix)
        else:
            self._own.close()

    def _taken(self, size: int, *, named: bool) -> SharedFile:
        file = self._file(with_margin(1 << (size - 1).bit_length()), named=named)
        try:
            file.prepare(size)
        except BaseException:
            file.remove()
            raise
        return file

    def _file(self, size_class: int, *, named: bool) -> SharedFile:
        free = self._free.get((named, size_class), [])
        while free:
            self._kept -= size_class
            file = free.pop()
            if file.is_whole():
                return file
            file.remove()
        self._serial += 1
        return SharedFile(f"{self.directory}/{self._prefix}{self._serial}" if named else None, size_class)

    def _drop_kept(self) -> None:
        for file in (file for files in self._free.values() for file in files):
            file.remove()
        self._free.clear()
        self._kept = 0


def shortage(size: int, error: OSError, place: str | int) -> NoSharedMemory:
    """What a failure to get `size` bytes of shared memory means, in one line.

    place: a path or a descriptor in the file system.
    """
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return NoSharedMemory(f"no shared memory of {size} bytes: {error.strerror}")
    found = os.statvfs(place)
    return NoSharedMemory(
        f"the shared memory is full: it has {found.f_blocks * found.f_frsize} bytes; make it larger (docker run "
        "--shm-size), or do without it (--transport descriptor, --transport message)"
    )
