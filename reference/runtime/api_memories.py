"""ANeuralNetworksMemory_* and ANeuralNetworksMemoryDesc_*."""

from __future__ import annotations

from npu_conformance.reference.runtime.api_base import ApiBase
from npu_conformance.reference.runtime.api_compilations import null
from npu_conformance.reference.runtime.calls import answer, code, not_null
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.memory import MemoryObject, from_descriptor_of_file, from_hardware_buffer
from npu_conformance.reference.runtime.objects.memory_copy import copy
from npu_conformance.reference.runtime.objects.memory_descriptor import MemoryDescriptor
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.runtime.memories import MemoryFunctions
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Handle
from npu_conformance.specs.neuralnetworks.types import Memory

_OK = ResultCode.NO_ERROR


class MemoryApi(ApiBase, MemoryFunctions):
    """Memory objects and descriptors. What each function does is said in MemoryFunctions."""

    def _descriptor(self, handle: int) -> MemoryDescriptor:
        return self.handles.get(MemoryDescriptor, handle)

    @answer(Handle, null)
    def memory_create_from_fd(self, size: int, protect: int, fd: Memory | None, offset: int, memory: bool) -> Handle:
        """See MemoryFunctions."""
        not_null(memory)
        made = from_descriptor_of_file(self.environment, size, protect, fd, offset)
        return Handle(_OK, self.handles.add(made))

    @answer(Handle, null)
    def memory_create_from_a_hardware_buffer(self, ahwb: Memory | None, memory: bool) -> Handle:
        """See MemoryFunctions."""
        not_null(ahwb, memory)
        assert ahwb is not None
        return Handle(_OK, self.handles.add(from_hardware_buffer(self.environment, ahwb)))

    def memory_free(self, memory: int) -> None:
        """See MemoryFunctions."""
        self.handles.free(MemoryObject, memory)

    @answer(Handle)
    def memory_desc_create(self, desc: bool) -> Handle:
        """See MemoryFunctions."""
        not_null(desc)
        return Handle(_OK, self.handles.add(MemoryDescriptor(self.environment)))

    def memory_desc_free(self, desc: int) -> None:
        """See MemoryFunctions."""
        self.handles.free(MemoryDescriptor, desc)

    @code
    def memory_desc_add_input_role(self, desc: int, compilation: int, index: int, frequency: float) -> None:
        """See MemoryFunctions."""
        self._add_role(desc, compilation, True, index, frequency)

    @code
    def memory_desc_add_output_role(self, desc: int, compilation: int, index: int, frequency: float) -> None:
        """See MemoryFunctions."""
        self._add_role(desc, compilation, False, index, frequency)

    def _add_role(self, desc: int, compilation: int, is_input: bool, index: int, frequency: float) -> None:
        not_null(desc, compilation)
        compiled = self.handles.get(Compilation, compilation)
        self._descriptor(desc).add_role(compiled, is_input, index, frequency)

    @code
    def memory_desc_set_dimensions(self, desc: int, rank: int, dimensions: tuple[int, ...] | None) -> None:
        """See MemoryFunctions."""
        not_null(desc, rank <= 0 or dimensions is not None)
        given = dimensions or ()
        if len(given) < rank:
            raise bad_data(f"rank {rank}, and {len(given)} dimensions")
        self._descriptor(desc).set_dimensions(given[:rank])

    @code
    def memory_desc_finish(self, desc: int) -> None:
        """See MemoryFunctions."""
        self._descriptor(desc).finish()

    @answer(Handle, null)
    def memory_create_from_desc(self, desc: int, memory: bool) -> Handle:
        """See MemoryFunctions."""
        not_null(memory)
        return Handle(_OK, self.handles.add(self._descriptor(desc).allocate()))

    @code
    def memory_copy(self, src: int, dst: int) -> None:
        """See MemoryFunctions."""
        not_null(src, dst)
        copy(self.environment, self.handles.get(MemoryObject, src), self.handles.get(MemoryObject, dst))
