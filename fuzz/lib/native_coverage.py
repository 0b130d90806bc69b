"""What code in C or C++ reaches: it counts the ways it takes in a table that a file shares.

examples/native_coverage/npu_coverage.c does so in a library, or in a program that a plug-in of the kind `exec:` starts.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy

VARIABLE = "NPU_CONFORMANCE_COVERAGE"
"""The environment variable that names the file."""
SIZE = 1 << 16
_FIRST = 1 << 32
"""Other features are numbers of 32 bits."""
_BUCKETS = numpy.array([0, 1, 2, 3, *[4] * 4, *[5] * 8, *[6] * 16, *[7] * 96, *[8] * 128], numpy.int64)
"""How often a way was taken counts roughly: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, 128 and more times."""


class NativeCoverage:
    """The table of a round."""

    def __init__(self, path: Path) -> None:
        """path: of the file, which is made. Code that is loaded or started from now on finds it."""
        path.write_bytes(bytes(SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SIZE)
        self._table = numpy.frombuffer(self._map, numpy.uint8)
        self._words = numpy.frombuffer(self._map, numpy.uint64)
        os.environ[VARIABLE] = str(path)

    def begin(self) -> None:
        """Forget what has been counted."""
        if self._words.any():
            self._words[:] = 0

    def features(self) -> frozenset[int]:
        """The ways that were taken since, each with about how often."""
        if not self._words.any():
            return frozenset()
        table = self._table.copy()  # a process elsewhere may still count, and numpy looks twice
        (ways,) = table.nonzero()
        return frozenset((_FIRST + ways * 16 + _BUCKETS[table[ways]]).tolist())
