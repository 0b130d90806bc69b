"""Memory from descriptors in shared memory: what every device reaches."""

from __future__ import annotations

from npu_conformance.reference.runtime.app_memory import bytes_at
from npu_conformance.reference.runtime.backend import DriverBuffer, MemoryDescription, Pools, RuntimeFailure
from npu_conformance.reference.runtime.planning.memory_domains import SharedBuffer
from npu_conformance.specs.neuralnetworks.operand_types import byte_size
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Memory


class SharedMemories:
    """See MemoryMaker."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools

    def allocate(self, description: MemoryDescription, explicit: bool) -> DriverBuffer:
        """Make a pool. Raises OP_FAILED where the size is not known (FW-MEM-008)."""
        size = byte_size(description.operand.type, description.dimensions)
        if size == 0:
            raise RuntimeFailure(ResultCode.OP_FAILED, "memory of unknown size")
        return SharedBuffer(self._pools.make(size), description.dimensions)

    def copy_to(self, buffer: DriverBuffer, destination: Memory) -> None:
        """See MemoryMaker."""
        assert isinstance(buffer, SharedBuffer)
        self._copy(buffer.memory, destination)

    def copy_from(self, source: Memory, buffer: DriverBuffer) -> None:
        """See MemoryMaker."""
        assert isinstance(buffer, SharedBuffer)
        self._copy(source, buffer.memory)

    def _copy(self, source: Memory, destination: Memory) -> None:
        target = bytes_at(self._pools, destination, 0, destination.size)
        if target.readonly:
            raise RuntimeFailure(ResultCode.UNMAPPABLE, "the memory cannot be written")
        target[:] = bytes_at(self._pools, source, 0, source.size)

    def free(self, buffer: DriverBuffer) -> None:
        """See MemoryMaker."""
        assert isinstance(buffer, SharedBuffer)
        self._pools.free(buffer.memory)
