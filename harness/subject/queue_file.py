"""The memory of a message queue in a file that is not mapped here, since whoever can open it can also truncate it."""

from __future__ import annotations

import mmap
from collections.abc import Callable

from npu_conformance.harness.subject.shared_files import SharedFile

Read = Callable[[int, int], bytes]
Write = Callable[[int, bytes | bytearray | memoryview], None]


class QueueFile:
    """A queue's memory in a file. See QueueMemory. read, write: those of its pool, of so many bytes."""

    def __init__(self, size: int, file: SharedFile, read: Read, write: Write) -> None:
        self.size = size
        self.page = _first_page(file)
        self.counters = _Counters(read, write)
        self.read, self.write = read, write


def _first_page(file: SharedFile) -> memoryview:
    """What futex calls name. Nothing is read or written through it: where the file is cut off that ends the process."""
    try:
        return memoryview(mmap.mmap(file.descriptor, mmap.PAGESIZE))
    except ValueError:  # it is too short
        file.read(0, mmap.PAGESIZE)
        raise


class _Counters:
    """The counters of a queue in a file. The kernel copies eight aligned bytes at one stroke."""

    def __init__(self, read: Read, write: Write) -> None:
        self._read, self._write = read, write

    def __getitem__(self, index: int) -> int:
        return int.from_bytes(self._read(8 * index, 8), "little")

    def __setitem__(self, index: int, value: int) -> None:
        self._write(8 * index, value.to_bytes(8, "little"))
