"""What all functions of the adapter need: the library, and memory that pointers lead into for as long as it must."""

from __future__ import annotations

from typing import Any

from npu_conformance.adapters.nnapi_c.arguments import NULL, Structure
from npu_conformance.adapters.nnapi_c.declarations import ffi
from npu_conformance.adapters.nnapi_c.library import Library
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.plugin import Descriptors, MemoryMap


class Caller:
    """Calls the library as an app does.

    Memory whose address an object may keep stays mapped until the object is freed; also where an execution is freed
    that is under way, until its event is.
    """

    def __init__(self, library: Library, memory: MemoryMap, descriptors: Descriptors) -> None:
        """library: to call. memory, descriptors: reach the bytes and the files of pools."""
        self._library = library
        self._memory, self._descriptors = memory, descriptors
        self._kept: dict[int, list[Any]] = {}
        self._operations: dict[int, int] = {}

    def _call(self, method: str, *arguments: Any) -> Any:
        return self._library.call(method, *arguments)

    def _address(self, handle: int, pointer: Pointer | None) -> Structure:
        """The address of a pointer's bytes, which stay mapped as long as the object `handle`. Null for None."""
        if pointer is None:
            return Structure(NULL)
        pool = ffi.from_buffer(self._memory.map(pointer.memory))
        if handle in self._kept:
            self._kept[handle].append(pool)
        return Structure(pool + pointer.offset, pool)

    def _begin(self, handle: int) -> None:
        """Begin to keep memory for a new object, whose handle may be that of a freed one; null keeps nothing."""
        if handle > 0:
            self._kept[handle] = []

    def _share(self, handle: int, other: int) -> None:
        """Keep what `other` keeps also as long as `handle`."""
        if handle > 0:
            self._kept[handle] = self._kept.setdefault(other, [])

    def _end(self, handle: int) -> None:
        """Keep nothing more for an object."""
        self._kept.pop(handle, None)
