"""The memory of a history: pools with places for tensors, and a copy that says what each byte has to be."""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec

from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.mirrored import MirroredPool
from npu_conformance.vts.lib.addition import SIZE, Addition, Values

SCALAR = 4
"""Bytes of an activation."""
_CELL, _CELLS = 64, 6
_FAR = (1 << 16, 1 << 16, 1 << 16, 1 << 20)
"""Where the second half of a large pool may begin: behind 64 KiB, and now and then behind a mebibyte."""
_SHIFTS = (0, 0, 4, 8, 20)
"""Where in its cell a place may lie; the same in all pools, so that requests can differ in nothing but their pools."""
_POOLS = ("ashmem", "ashmem", "ashmem", "mmap_fd", "ashmem")
"""Kinds of the pools. The last one is large, and has half of its places far behind."""
ROWS = (1, 2, 3, 5)
"""Numbers of rows of SIZE bytes that a tensor has: those of recipes that are not open have one."""
_FILL = bytes([FILL]) * SIZE * ROWS[-1]
_LARGEST = 10.0
"""What was computed is an input again up to here: sums of four more fit the types of 8 bits."""


def rows_of(values: Values) -> int:
    """The number of rows of a tensor with these values."""
    return len(values) // 2


def is_input(values: Values) -> bool:
    """True for what can be added to again."""
    return max(map(abs, values)) <= _LARGEST


class Place(msgspec.Struct, frozen=True):
    """Where a tensor lies."""

    pool: int
    offset: int

    def __str__(self) -> str:
        return f"pool {self.pool} at {self.offset}"


class Memories:
    """Pools, and what is known of their bytes. pools: of the client's; the driver may write what a request says."""

    def __init__(self, context: CaseContext, chance: random.Random) -> None:
        far, half = chance.choice(_FAR), _CELLS // 2 * _CELL
        sizes = [_CELLS * _CELL] * (len(_POOLS) - 1) + [far + half]
        spans = [[(0, _CELLS * _CELL)] for _ in sizes[:-1]] + [[(0, half), (far, half)]]
        self.pools = [
            MirroredPool(context.pool(size, kind), its, FILL)
            for size, kind, its in zip(sizes, _POOLS, spans, strict=True)
        ]
        shifts = [chance.choice(_SHIFTS) for _ in range(_CELLS)]
        self.places = [
            Place(number, start + cell * _CELL + shifts[cell])
            for number, its in enumerate(spans)
            for start, length in its
            for cell in range(length // _CELL)
        ]
        self.values: dict[Place, Values] = {}
        """What lies where there is a tensor."""
        self._types: dict[Place, Addition] = {}
        """Of what type it is."""
        self.busy: set[Place] = set()
        """Places of executions that are under way."""

    def write(self, place: Place, values: Values, chosen: Addition) -> None:
        """Store a tensor."""
        self.pools[place.pool].write(place.offset, chosen.packed(values))
        self.values[place], self._types[place] = values, chosen

    def clear(self, place: Place) -> None:
        """Store what no sum is, as far as the largest tensor reaches."""
        self.pools[place.pool].write(place.offset, _FILL)
        self.values.pop(place, None)

    def write_number(self, place: Place, number: int) -> None:
        """Store a scalar, which is no tensor."""
        self.pools[place.pool].write(place.offset, number.to_bytes(SCALAR, "little"))
        self.values.pop(place, None)

    def take(self, place: Place, expected: Values, chosen: Addition, what: str, additions: int) -> None:
        """See that a tensor was computed, and know it from now on: as it is, since types of 8 bits round."""
        data = self.pools[place.pool].take(place.offset, SIZE * rows_of(expected))
        chosen.check(data, expected, what, additions)
        values = chosen.unpacked(data)[: len(expected)]
        if data == chosen.packed(values):
            self.values[place], self._types[place] = values, chosen

    def free(self, without: Iterable[Place] = ()) -> list[Place]:
        """Places that nobody uses."""
        taken = {*self.busy, *without}
        return [place for place in self.places if place not in taken]

    def known(self, rows: int, chosen: Addition) -> list[Place]:
        """Places with a tensor of a type that can be added to again, and has this number of rows."""
        found = ((place, self.values.get(place)) for place in self.free() if self._types.get(place) == chosen)
        return [place for place, values in found if values and is_input(values) and rows_of(values) == rows]

    def check(self) -> None:
        """See that no byte has changed but those that a request has named."""
        for number, pool in enumerate(self.pools):
            pool.check(f"pool {number}")
