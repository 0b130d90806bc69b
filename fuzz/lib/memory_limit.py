"""How much memory may be asked for at a time: the kernel refuses more, so that looking costs microseconds."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

MEMORY_LIMIT = 2 << 30
"""Bytes of private memory that a fuzzer may take: beyond, the subject gets MemoryError and has to cope."""
_DATA_PAGES = 5
"""The field of /proc/self/statm with the pages of data and stack, which RLIMIT_DATA counts."""
_LOOKS = 64
"""Blocks of which one looks how much there is: a process grows slowly, and looking takes as long as reading a line."""


class MemoryLimit:
    """A block in which what this process asks for beyond a size raises MemoryError. It can be entered often."""

    def __init__(self, size: int) -> None:
        """size: bytes more than at the beginning of the block."""
        self._size = size
        self._before = resource.getrlimit(resource.RLIMIT_DATA)
        self._limit, self._left = 0, 0

    def __enter__(self) -> None:
        if self._left == 0:
            used = _used("self")
            self._before, self._limit, self._left = resource.getrlimit(resource.RLIMIT_DATA), used + self._size, _LOOKS
        self._left -= 1
        soft, hard = self._before
        resource.setrlimit(resource.RLIMIT_DATA, (self._limit if soft < 0 else min(soft, self._limit), hard))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._before)


@contextmanager
def limited_to(size: int, process: int) -> Iterator[None]:
    """Inside, a process has at most so many bytes of private memory, as a fuzzer's has.

    One that has half of that already, as a driver with a process of its own may, can have half of it again. Another
    user's has what it has.
    """
    try:
        soft, hard = resource.prlimit(process, resource.RLIMIT_DATA)
    except PermissionError:
        yield
        return
    limit = max(size, _used(str(process)) + size // 2)
    resource.prlimit(process, resource.RLIMIT_DATA, (limit if soft < 0 else min(limit, soft), hard))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it has died: that is the finding
            resource.prlimit(process, resource.RLIMIT_DATA, (soft, hard))


def _used(process: str) -> int:
    """Bytes of data and stack of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[_DATA_PAGES]) * resource.getpagesize()
