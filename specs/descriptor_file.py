"""Cache files behind descriptors of this process."""

from __future__ import annotations

import fcntl
import os

_CHUNK = 16 << 20
"""Bytes that are written at once."""


def write_at(descriptor: int, offset: int, data: bytes | bytearray | memoryview) -> None:
    """Store bytes, all of them: one call may store a part. Raises OSError."""
    done = 0
    while done < len(data):
        done += os.pwrite(descriptor, memoryview(data)[done : done + _CHUNK], offset + done)


class DescriptorFile:
    """A descriptor of this process. See specs.plugin.File."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
        self.position = os.lseek(descriptor, 0, os.SEEK_CUR)

    def is_readable(self) -> bool:
        """True where it was not opened for writing alone."""
        return self._mode != os.O_WRONLY

    def is_writable(self) -> bool:
        """True where it was not opened for reading alone."""
        return self._mode != os.O_RDONLY

    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._descriptor).st_size

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from `offset` on."""
        return os.pread(self._descriptor, length, offset)

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes, all of them."""
        write_at(self._descriptor, offset, data)

    def truncate(self, size: int) -> None:
        """Set the size."""
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        """Close the descriptor."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
