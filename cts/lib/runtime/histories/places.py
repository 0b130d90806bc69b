"""Where the arguments of executions lie: cells of memory objects, and a copy that says what each byte has to be."""

from __future__ import annotations

import random

import msgspec

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.subject.mirrored import MirroredPool

ROOM = 96
"""Bytes of a cell, of which a tensor takes some."""
_STRIDE, _CELLS = 128, 6
_SHIFTS = (0, 0, 4, 16, 28)


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
        self._pools = [MirroredPool(pool, [(0, pool.memory.size)], FILL) for _, pool in made]
        shifts = [chance.choice(_SHIFTS) for _ in range(_CELLS)]
        starts = (0, 0, 1 << 16)
        self._cells = [
            Cell(number, start + at * _STRIDE + shifts[at])
            for number, start in enumerate(starts)
            for at in range(_CELLS)
        ]
        self.busy: set[Cell] = set()
        """Cells that a computation which is under way reads or writes, or that belong to an execution that is kept."""

    def free(self, chance: random.Random, count: int) -> list[Cell] | None:
        """So many cells that nobody uses, in any order; None where there are too few."""
        found = [cell for cell in self._cells if cell not in self.busy]
        return chance.sample(found, count) if len(found) >= count else None

    def write(self, cell: Cell, data: bytes) -> None:
        """Store a tensor."""
        self._pools[cell.memory].write(cell.offset, data)

    def clear(self, cell: Cell) -> None:
        """Store nothing that was computed."""
        self.write(cell, bytes([FILL]) * ROOM)

    def take(self, cell: Cell, size: int) -> bytes:
        """Read what an execution has written, which is there from now on."""
        return self._pools[cell.memory].take(cell.offset, size)

    def check(self) -> None:
        """See that no byte has changed but those that were outputs."""
        for number, pool in enumerate(self._pools):
            pool.check(f"memory {number}")
