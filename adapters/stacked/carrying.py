"""Carries memory between the runtime's process and a driver in another one.

The driver gets copies, whichever way its memory travels: what it has changed is copied back once it has answered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import Memory, Model, Request, RequestMemoryPool

if TYPE_CHECKING:
    from npu_conformance.harness.subject.pools import Pool, Pools
    from npu_conformance.specs.plugin import MemoryMap


class Copy:
    """A pool of the driver's with the bytes of memory here. memory: as the driver is told of it."""

    def __init__(self, here: MemoryMap, there: Pools, memory: Memory) -> None:
        """Raises ServiceError where the memory is not known here."""
        self._view = here.map(memory)
        self._pool: Pool = there.create("ashmem", max(memory.size, 1))
        self.memory = replace(memory, token=self._pool.memory.token, offset=0)
        self._sent = b""
        self.send()

    def send(self) -> None:
        """Give the driver the bytes of this moment."""
        self._sent = bytes(self._view)
        self._pool.write(0, self._sent)

    def fetch(self) -> None:
        """Store the bytes that the driver has changed. Others may be those of an execution beside this one."""
        if self._view.readonly:
            return
        sent = numpy.frombuffer(self._sent, numpy.uint8)
        found = numpy.frombuffer(self._pool.read(0, len(sent)), numpy.uint8)
        changed = sent != found
        numpy.frombuffer(self._view, numpy.uint8)[changed] = found[changed]

    def close(self) -> None:
        """Let the driver forget it."""
        self._pool.close()


class Carrier:
    """Makes copies. here: memory by the runtime's tokens; there: makes the driver's pools."""

    def __init__(self, here: MemoryMap, there: Pools) -> None:
        self._here, self._there = here, there

    def copy(self, memory: Memory) -> Copy:
        """A copy, which the caller closes. Raises ServiceError where the memory is not known."""
        return Copy(self._here, self._there, memory)

    @contextlib.contextmanager
    def carried(self, memories: Iterable[Memory]) -> Iterator[dict[Memory, Memory]]:
        """Copies as long as the block runs; what the driver has changed is back behind it."""
        with contextlib.ExitStack() as stack:
            copies = {
                memory: stack.enter_context(contextlib.closing(self.copy(memory))) for memory in dict.fromkeys(memories)
            }
            yield {memory: copy.memory for memory, copy in copies.items()}
            for copy in copies.values():
                copy.fetch()

    @contextlib.contextmanager
    def request(self, request: Request) -> Iterator[Request]:
        """A request with copies of its pools. Buffers of the driver's own keep their tokens."""
        with self.carried(one.pool for one in request.pools if one.pool is not None) as copies:
            pools = (one if one.pool is None else RequestMemoryPool(copies[one.pool]) for one in request.pools)
            yield replace(request, pools=tuple(pools))

    @contextlib.contextmanager
    def model(self, model: Model) -> Iterator[tuple[Model, list[Copy]]]:
        """A model with copies of its pools, which live on where the block takes them out of the list."""
        copies: list[Copy] = []
        try:
            copies.extend(self.copy(pool) for pool in model.pools)
            yield replace(model, pools=tuple(copy.memory for copy in copies)), copies
        finally:
            for copy in copies:
                copy.close()
