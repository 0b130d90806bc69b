"""Where the arguments of executions lie: cells of memory objects, and a copy that says what each byte has to be."""

from __future__ import annotations

import random

import msgspec

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks
from npu_conformance.harness.subject.pools import Pool

ROOM = 96
"""Bytes of a cell, of which a tensor takes some."""
_STRIDE, _CELLS = 128, 6
_SHIFTS = (0, 0, 4, 16, 28)
_FILL = 0xA5


class Cell(msgspec.Struct, frozen=True):
    """A place for one tensor. memory: number of the memory object, from 0 on."""

    memory: int
    offset: int

    def __str__(self) -> str:
        return f"memory {self.memory} at {self.offset}"


class Places:
    """Memory objects of an app over shared memory. The runtime may write what an execution names as its output."""

    def __init__(self, app: RuntimeApp, chance: random.Random) -> None:
        made = [app.shared_memory(size) for size in (_STRIDE * _CELLS, _STRIDE * _CELLS, (1 << 16) + _STRIDE * _CELLS)]
        self.handles = [handle for handle, _ in made]
        self._pools: list[Pool] = [pool for _, pool in made]
        self._copies = [bytearray([_FILL]) * pool.memory.size for pool in self._pools]
        shifts = [chance.choice(_SHIFTS) for _ in range(_CELLS)]
        starts = (0, 0, 1 << 16)
        self._cells = [
            Cell(number, start + at * _STRIDE + shifts[at])
            for number, start in enumerate(starts)
            for at in range(_CELLS)
        ]
        self.busy: set[Cell] = set()
        """Cells that a computation which is under way reads or writes, or that belong to an execution that is kept."""
        for pool, copy in zip(self._pools, self._copies, strict=True):
            pool.write(0, bytes(copy))

    def free(self, chance: random.Random, count: int) -> list[Cell] | None:
        """So many cells that nobody uses, in any order; None where there are too few."""
        found = [cell for cell in self._cells if cell not in self.busy]
        return chance.sample(found, count) if len(found) >= count else None

    def write(self, cell: Cell, data: bytes) -> None:
        """Store a tensor."""
        self._pools[cell.memory].write(cell.offset, data)
        self._note(cell, data)

    def clear(self, cell: Cell) -> None:
        """Store nothing that was computed."""
        self.write(cell, bytes([_FILL]) * ROOM)

    def take(self, cell: Cell, size: int) -> bytes:
        """Read what an execution has written, which is there from now on."""
        data = bytes(self._pools[cell.memory].read(cell.offset, size))
        self._note(cell, data)
        return data

    def check(self) -> None:
        """See that no byte has changed but those that were outputs."""
        for number, (pool, copy) in enumerate(zip(self._pools, self._copies, strict=True)):
            found = pool.read(0, len(copy))
            if found != copy:
                at = next(at for at, (one, other) in enumerate(zip(found, copy, strict=True)) if one != other)
                checks.fail(f"byte {at} of memory {number}, which nobody was to write", str(copy[at]), str(found[at]))

    def _note(self, cell: Cell, data: bytes) -> None:
        self._copies[cell.memory][cell.offset : cell.offset + len(data)] = data
