"""The input that is being run, in memory that outlives the process: a crash can be traced to what caused it."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from npu_conformance.fuzz.lib.target import LARGEST_INPUT

_HEADER = struct.Struct("<QQ")
_SIZE = _HEADER.size + LARGEST_INPUT


class CurrentInput:
    """A file of one input and the number of inputs so far. The fuzzer writes it, its supervisor reads it."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self.count = 0

    def begin(self, data: bytes) -> None:
        """Note that an input of at most LARGEST_INPUT bytes is run now."""
        self.count += 1
        self._map[_HEADER.size : _HEADER.size + len(data)] = data
        _HEADER.pack_into(self._map, 0, self.count, len(data))

    def read(self) -> tuple[int, bytes]:
        """How many inputs were begun, and the latest."""
        count, length = _HEADER.unpack_from(self._map, 0)
        return count, self._map[_HEADER.size : _HEADER.size + length]

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
