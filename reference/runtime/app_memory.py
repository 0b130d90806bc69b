"""The app's memory as the runtime uses it: behind pointers for a moment, behind memory objects for their lives."""

from __future__ import annotations

import itertools
import weakref

from msgspec.structs import replace

from npu_conformance.reference.runtime.backend import Pools, RuntimeFailure
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import MemoryMap

_FIRST_TOKEN = 1 << 56
_WRITE = 2


class AppMemory:
    """Maps the app's memory, under the app's tokens and under those of duplicates that the runtime keeps."""

    def __init__(self, apps: MemoryMap) -> None:
        self._apps = apps
        self._kept: dict[int, memoryview] = {}
        self._tokens = itertools.count(_FIRST_TOKEN)

    def map(self, memory: Memory) -> memoryview:
        """Return the bytes of memory. Raises ServiceError for an unknown token."""
        kept = self._kept.get(memory.token)
        if kept is None:
            return self._apps.map(memory)
        return kept if memory.prot & _WRITE else kept.toreadonly()

    def keep(self, memory: Memory) -> Memory:
        """Duplicate a descriptor: the same bytes under a token that outlives the app's (FW-MEM-010).

        Memory that cannot be mapped stays as it is: who needs its bytes fails later, with UNMAPPABLE.
        """
        try:
            view = self._apps.map(memory)
        except ServiceError:
            return memory
        token = next(self._tokens)
        self._kept[token] = view
        return replace(memory, token=token, offset=0)

    def free(self, memory: Memory) -> None:
        """Close a duplicate; other memory is ignored."""
        self._kept.pop(memory.token, None)


def bytes_at(pools: MemoryMap, memory: Memory, offset: int, length: int) -> memoryview:
    """Bytes of memory. Raises RuntimeFailure(UNMAPPABLE) where they cannot all be reached."""
    try:
        view = pools.map(memory)
    except ServiceError as error:
        raise RuntimeFailure(ResultCode.UNMAPPABLE, str(error)) from error
    if offset < 0 or offset + length > len(view):
        raise RuntimeFailure(ResultCode.UNMAPPABLE, f"no bytes {offset} to {offset + length} in {len(view)}")
    return view[offset : offset + length]


def bytes_behind(pools: MemoryMap, pointer: Pointer, length: int) -> memoryview:
    """Bytes behind a pointer. Raises RuntimeFailure(UNMAPPABLE), where a C program would crash."""
    return bytes_at(pools, pointer.memory, pointer.offset, length)


class OwnedPool:
    """A pool of the runtime's own, given back with the last reference to this object."""

    def __init__(self, pools: Pools, size: int) -> None:
        self.memory = pools.make(size)
        weakref.finalize(self, pools.free, self.memory)
