"""The bytes of outputs, for faults that bend results."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import MemoryMap


class Outputs:
    """The bytes of a request's outputs."""

    def __init__(self, memory: MemoryMap, request: types.Request) -> None:
        self._places = [(mapped(memory, request, one), one.location) for one in request.outputs]

    def read(self) -> list[bytes]:
        """A copy of each."""
        return [bytes(pool[place.offset : place.offset + place.length]) for pool, place in self._places]

    def write(self, contents: list[bytes]) -> None:
        """Replace each."""
        for (pool, place), content in zip(self._places, contents, strict=True):
            pool[place.offset : place.offset + place.length] = content

    def flip(self) -> None:
        """Change the lowest bit of the first byte of each, which is of the least weight."""
        self.write([bytes([content[0] ^ 1]) + content[1:] for content in self.read()])


def mapped(memory: MemoryMap, request: types.Request, argument: types.RequestArgument) -> memoryview:
    """The pool that an argument lies in."""
    pool = request.pools[argument.location.pool_index].pool
    assert pool is not None
    return memory.map(pool)
