"""The NNAPI C API: memory objects, and descriptors of memory that a driver manages."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.runtime.types import Handle
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.versions import Version
from npu_conformance.specs.wire_types import Float


class MemoryFunctions(Interface):
    """ANeuralNetworksMemory_* and ANeuralNetworksMemoryDesc_*."""

    @method()
    def memory_create_from_fd(self, size: int, protect: int, fd: Memory | None, offset: int, memory: bool) -> Handle:
        """Map shared memory. fd: the pool whose descriptor it is, None for -1.

        offset: in bytes, of the file behind the descriptor. What `context.memory.map(fd)` gives begins at fd.offset of
        that file, so that the memory object begins at its byte offset - fd.offset.
        """
        raise refuse("Runtime.memoryCreateFromFd")

    @method(since=Version.V1_2)
    def memory_create_from_a_hardware_buffer(self, ahwb: Memory | None, memory: bool) -> Handle:
        """Use an AHardwareBuffer: memory of the kind hardware_buffer or hardware_buffer_blob."""
        raise refuse("Runtime.memoryCreateFromAHardwareBuffer")

    @method()
    def memory_free(self, memory: int) -> None:
        """Destroy a memory object; null is ignored. Models and executions that use it keep what they need."""
        raise refuse("Runtime.memoryFree")

    @method(since=Version.V1_3)
    def memory_desc_create(self, desc: bool) -> Handle:
        """Begin a descriptor."""
        raise refuse("Runtime.memoryDescCreate")

    @method(since=Version.V1_3)
    def memory_desc_free(self, desc: int) -> None:
        """Destroy a descriptor; null is ignored."""
        raise refuse("Runtime.memoryDescFree")

    @method(since=Version.V1_3)
    def memory_desc_add_input_role(self, desc: int, compilation: int, index: int, frequency: Float) -> int:
        """Say that the memory will be an input of a compilation. frequency: above 0, at most 1."""
        raise refuse("Runtime.memoryDescAddInputRole")

    @method(since=Version.V1_3)
    def memory_desc_add_output_role(self, desc: int, compilation: int, index: int, frequency: Float) -> int:
        """Say that the memory will be an output of a compilation."""
        raise refuse("Runtime.memoryDescAddOutputRole")

    @method(since=Version.V1_3)
    def memory_desc_set_dimensions(self, desc: int, rank: int, dimensions: tuple[int, ...] | None) -> int:
        """Say which shape the memory has. dimensions: None is a null pointer."""
        raise refuse("Runtime.memoryDescSetDimensions")

    @method(since=Version.V1_3)
    def memory_desc_finish(self, desc: int) -> int:
        """End the descriptor."""
        raise refuse("Runtime.memoryDescFinish")

    @method(since=Version.V1_3)
    def memory_create_from_desc(self, desc: int, memory: bool) -> Handle:
        """Allocate memory, on a device where one serves all roles."""
        raise refuse("Runtime.memoryCreateFromDesc")

    @method(since=Version.V1_3)
    def memory_copy(self, src: int, dst: int) -> int:
        """Copy one memory object to another."""
        raise refuse("Runtime.memoryCopy")
