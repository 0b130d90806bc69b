"""How much memory may be asked for at a time: the kernel refuses more, so that looking costs microseconds."""

from __future__ import annotations

import resource
from pathlib import Path
from types import TracebackType

_DATA_PAGES = 5
"""The field of /proc/self/statm with the pages of data and stack, which RLIMIT_DATA counts."""
_LOOKS = 64
"""Blocks of which one looks how much there is: a process grows slowly, and looking takes as long as reading a line."""


class MemoryLimit:
    """A block in which what this process asks for beyond a size raises MemoryError. It can be entered often."""

    def __init__(self, size: int) -> None:
        """size: bytes more than at the beginning of the block."""
        self._size = size
        self._page = resource.getpagesize()
        self._before = resource.getrlimit(resource.RLIMIT_DATA)
        self._limit, self._left = 0, 0

    def __enter__(self) -> None:
        if self._left == 0:
            used = int(Path("/proc/self/statm").read_text().split()[_DATA_PAGES]) * self._page
            self._before, self._limit, self._left = resource.getrlimit(resource.RLIMIT_DATA), used + self._size, _LOOKS
        self._left -= 1
        soft, hard = self._before
        resource.setrlimit(resource.RLIMIT_DATA, (self._limit if soft < 0 else min(soft, self._limit), hard))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._before)
