"""ANeuralNetworksMemory_* and ANeuralNetworksMemoryDesc_*, called in the library."""

from __future__ import annotations

import os

from npu_conformance.adapters.nnapi_c.arguments import Written, numbers
from npu_conformance.adapters.nnapi_c.caller import Caller
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.neuralnetworks.runtime.memories import MemoryFunctions
from npu_conformance.specs.neuralnetworks.runtime.types import Handle
from npu_conformance.specs.neuralnetworks.types import Memory

_NO_DESCRIPTOR = -1


class Memories(Caller, MemoryFunctions):
    """See MemoryFunctions: every method calls the C function of its name, and does nothing else."""

    def memory_create_from_fd(self, size: int, protect: int, fd: Memory | None, offset: int, memory: bool) -> Handle:
        handle = Written("Handle", memory)
        descriptor = _NO_DESCRIPTOR if fd is None else self._descriptors.descriptor(fd)
        try:
            result = self._call("memory_create_from_fd", size, protect, descriptor, offset, handle)
        finally:
            if fd is not None:  # the runtime has made a duplicate of its own
                os.close(descriptor)
        return Handle(result, handle.value())

    def memory_create_from_a_hardware_buffer(self, ahwb: Memory | None, memory: bool) -> Handle:
        """Refused: outside Android there is nothing to pass to it."""
        raise Unsupported("there are no hardware buffers outside Android")

    def memory_free(self, memory: int) -> None:
        self._call("memory_free", memory)

    def memory_desc_create(self, desc: bool) -> Handle:
        handle = Written("Handle", desc)
        return Handle(self._call("memory_desc_create", handle), handle.value())

    def memory_desc_free(self, desc: int) -> None:
        self._call("memory_desc_free", desc)

    def memory_desc_add_input_role(self, desc: int, compilation: int, index: int, frequency: float) -> int:
        return int(self._call("memory_desc_add_input_role", desc, compilation, index, frequency))

    def memory_desc_add_output_role(self, desc: int, compilation: int, index: int, frequency: float) -> int:
        return int(self._call("memory_desc_add_output_role", desc, compilation, index, frequency))

    def memory_desc_set_dimensions(self, desc: int, rank: int, dimensions: tuple[int, ...] | None) -> int:
        return int(self._call("memory_desc_set_dimensions", desc, rank, numbers(dimensions)))

    def memory_desc_finish(self, desc: int) -> int:
        return int(self._call("memory_desc_finish", desc))

    def memory_create_from_desc(self, desc: int, memory: bool) -> Handle:
        handle = Written("Handle", memory)
        return Handle(self._call("memory_create_from_desc", desc, handle), handle.value())

    def memory_copy(self, src: int, dst: int) -> int:
        return int(self._call("memory_copy", src, dst))
