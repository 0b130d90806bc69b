"""The bytes of a request's arguments, for faults that change results."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import MemoryMap

Regions = list[memoryview]


def mapped(memory: MemoryMap, request: types.Request, argument: types.RequestArgument) -> memoryview | None:
    """The pool of shared memory that an argument lies in; None where there is none, or the device has allocated it."""
    index = argument.location.pool_index
    pool = request.pools[index].pool if 0 <= index < len(request.pools) else None
    return None if pool is None else memory.map(pool)


def regions(memory: MemoryMap, request: types.Request, arguments: Iterable[types.RequestArgument]) -> Regions:
    """The bytes of those arguments of a request that lie in shared memory; none of an argument without elements."""
    pools = [(mapped(memory, request, one), one.location) for one in arguments]
    return [pool[place.offset : place.offset + place.length] for pool, place in pools if pool is not None]


class Outputs:
    """The bytes of those outputs of a request that lie in shared memory."""

    def __init__(self, memory: MemoryMap, request: types.Request) -> None:
        self._regions = regions(memory, request, request.outputs)

    def read(self) -> list[bytes]:
        """Return a copy of each output."""
        return [bytes(region) for region in self._regions]

    def write(self, contents: list[bytes]) -> None:
        """Replace each output."""
        for region, content in zip(self._regions, contents, strict=True):
            region[:] = content

    def flip(self) -> None:
        """Change the lowest bit of the first byte of each output, which weighs least."""
        for region in filter(None, self._regions):
            region[0] ^= 1
