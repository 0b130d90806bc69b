"""The bytes of outputs, for faults that change results."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import MemoryMap


class Outputs:
    """The bytes of those outputs of a request that lie in shared memory."""

    def __init__(self, memory: MemoryMap, request: types.Request) -> None:
        pools = [(mapped(memory, request, one), one.location) for one in request.outputs]
        self._places = [(pool, place) for pool, place in pools if pool is not None]

    def read(self) -> list[bytes]:
        """Return a copy of each output."""
        return [bytes(pool[place.offset : place.offset + place.length]) for pool, place in self._places]

    def write(self, contents: list[bytes]) -> None:
        """Replace each output."""
        for (pool, place), content in zip(self._places, contents, strict=True):
            pool[place.offset : place.offset + place.length] = content

    def flip(self) -> None:
        """Change the lowest bit of the first byte of each output, which weighs least."""
        self.write([bytes([content[0] ^ 1]) + content[1:] for content in self.read()])


def mapped(memory: MemoryMap, request: types.Request, argument: types.RequestArgument) -> memoryview | None:
    """The pool of shared memory that an argument lies in; None where the device has allocated it."""
    pool = request.pools[argument.location.pool_index].pool
    return None if pool is None else memory.map(pool)
