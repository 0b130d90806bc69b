"""The input that is being run, in memory that outlives the process: a crash can be traced to what caused it."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.target import LARGEST_INPUT

_HEADER = struct.Struct("<QQ")
_END = struct.Struct("<q")
_MINIMISED = struct.Struct("<32s")
_STEPS = struct.Struct("<Q")
_STEPS_AT = _HEADER.size + _END.size
_INPUT = _STEPS_AT + _STEPS.size + _MINIMISED.size
_SIZE = _INPUT + LARGEST_INPUT
_NONE = -1


class CurrentInput:
    """A file of one input, the number of inputs so far, what they are run for, and the end, for who supervises.

    Its room is taken beforehand: what is noted here is noted on a full disk, too.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_HEADER.size) + _END.pack(_NONE) + bytes(_SIZE - _STEPS_AT))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self.count = 0

    def begin(self, data: bytes) -> None:
        """Note that an input of at most LARGEST_INPUT bytes is run now."""
        self.count += 1
        self._map[_INPUT : _INPUT + len(data)] = data
        _HEADER.pack_into(self._map, 0, self.count, len(data))

    def step(self) -> None:
        """Note that the latest input has got on: a wait of the harness, which has an end of its own, is over."""
        _STEPS.pack_into(self._map, _STEPS_AT, self.steps() + 1)

    def steps(self) -> int:
        """How often that was noted."""
        (steps,) = _STEPS.unpack_from(self._map, _STEPS_AT)
        return int(steps)

    def forget(self) -> None:
        """Note that no input was begun: what the latest was begun for has come to its end."""
        self.count = 0
        _HEADER.pack_into(self._map, 0, 0, 0)

    def read(self) -> tuple[int, bytes]:
        """How many inputs were begun, and the latest."""
        count, length = _HEADER.unpack_from(self._map, 0)
        return count, self._map[_INPUT : _INPUT + length]

    def minimise(self, kind: str) -> None:
        """Note that inputs are run to make a finding of this kind smaller; empty where that is over."""
        _MINIMISED.pack_into(self._map, _INPUT - _MINIMISED.size, kind.encode())

    def minimised(self) -> str:
        """The kind of the finding that is being made smaller, if one is."""
        (kind,) = _MINIMISED.unpack_from(self._map, _INPUT - _MINIMISED.size)
        return str(kind.rstrip(b"\0"), "ascii", "replace")

    def end(self, ending: Ending) -> None:
        """Note that the process ends itself now, with this status."""
        _END.pack_into(self._map, _HEADER.size, ending)

    def ending(self, returncode: int) -> Ending | None:
        """The end that was noted, where the process came to it; None where it died."""
        (noted,) = _END.unpack_from(self._map, _HEADER.size)
        return Ending(noted) if noted == returncode and noted != _NONE else None

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
